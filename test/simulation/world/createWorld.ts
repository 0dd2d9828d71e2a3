import { createHash } from 'node:crypto';
import { nuid } from '@nats-io/transport-node';
import type { EthereumChain } from '../chain/ethereumNode.ts';
import { createNodeLink, type RequestFate } from '../chain/nodeLink.ts';
import { createSimulatedClickHouse, type SimulatedClickHouse } from '../clickhouse/clickHouseServer.ts';
import { minorVersions } from '../nats/jetStreamStore.ts';
import { createSimulatedNats, type Fate, type SimulatedNats } from '../nats/natsServer.ts';
import {
  enterWorld,
  type SimulatedListener,
  type SimulatedRequest,
  type SimulatedResponse,
} from './currentWorld.ts';
import { createDatabaseLink, type StatementFate } from './databaseLink.ts';
import { hold } from './held.ts';
import { createRandom, type Random } from './random.ts';
import { createVirtualTime, type Domain, type VirtualTime } from './virtualTime.ts';

/** Present faults. The fate of each message, statement and request is drawn anew. */
export interface Weather {
  fateOfMessage: (subject: string) => Fate;
  fateOfStatement: (kind: 'read' | 'write', sql: string) => StatementFate;
  fateOfRequest: () => RequestFate;
  /** Number of newest blocks that the node does not know yet. */
  lagBlocks: number;
  /** Longest latency. */
  latencyMsMax: number;
}

/** A world with one nats-server, one ClickHouse, one node and any number of processes. */
export interface SimulatedWorld {
  readonly time: VirtualTime;
  readonly random: Random;
  readonly nats: SimulatedNats;
  readonly clickHouse: SimulatedClickHouse;
  readonly weather: Weather;
  /** The chain of the node. */
  readonly chain: EthereumChain;
  /** Counts the worlds of this program. */
  readonly number: number;
  /** Kills a process before its n-th sending. */
  crashAfter(domain: Domain, sendings: number): void;
  /** Kills a process before its first sending after a message or statement for which this is true. */
  crashBehind(domain: Domain, isLast: (sent: Buffer) => boolean): void;
  /** Outside of every process. */
  sleep(ms: number): Promise<void>;
  /** Starts something in a process of its own. */
  run<Result>(domain: Domain, start: () => Promise<Result>): Promise<Result>;
  /** Null if nothing listens, or the process dies before it answers. */
  request(url: string, headers?: SimulatedRequest['headers']): Promise<SimulatedResponse | null>;
  /** Reads a response piece by piece until the client leaves. Resolves with its end, as `request` does. */
  listen(
    url: string,
    headers: SimulatedRequest['headers'],
    reading: Required<Pick<SimulatedRequest, 'onPiece' | 'leaving'>>,
  ): Promise<SimulatedResponse | null>;
  /** Digest of everything that processes sent, with times. */
  fingerprint(): string;
}

export const fairWeather = (): Weather => ({
  fateOfMessage: () => 'answered',
  fateOfStatement: () => 'answered',
  fateOfRequest: () => 'answered',
  lagBlocks: 0,
  latencyMsMax: 4,
});

const natsPort = 4222;
/** Longest wait for an answer. */
const answerMs = 60_000;

export function createWorld(seed: string, startMs: number, chain: EthereumChain): SimulatedWorld {
  const time = createVirtualTime(startMs);
  const random = createRandom(seed);
  const weather = fairWeather();
  const latency = random.fork('latency');
  const latencyMs = () => 0.1 + latency.next() * latency.next() * weather.latencyMsMax;
  const listeners = new Map<number, { readonly domain: Domain; readonly listener: SimulatedListener }>();
  const crashes = new Map<Domain, number>();
  const crashesBehind = new Map<Domain, (sent: Buffer) => boolean>();
  let lastPort = 20_000;

  const outside = (delayMs: number, run: () => void) => time.schedule(delayMs, run, time.outside);
  const nats = createSimulatedNats({
    minorVersion: random.fork('nats version').pick(minorVersions),
    nowMs: time.nowMs,
    wallMs: () => time.within(time.outside, time.wallMs),
    schedule: outside,
    latencyMs,
    fateOf: (subject) => weather.fateOfMessage(subject),
  });
  const clickHouse = createSimulatedClickHouse();

  const sent = createHash('sha256');
  function onSend(domain: Domain, what: Buffer) {
    // The rest of a message may name the real machine.
    sent.update(`${time.nowMs()} ${domain.name} ${what.length} ${what.toString('latin1', 0, 60)}\n`);
    if (crashesBehind.get(domain)?.(what)) crashes.set(domain, 0);
    else countDown(domain);
  }

  function countDown(domain: Domain) {
    const left = crashes.get(domain);
    if (left === undefined) return;
    if (left > 0) crashes.set(domain, left - 1);
    else domain.isDead = true;
  }

  function send(
    url: string,
    headers: SimulatedRequest['headers'],
    reading: Pick<SimulatedRequest, 'onPiece' | 'leaving'> = {},
  ): Promise<SimulatedResponse | null> {
    return new Promise((resolve) => {
      const { port, pathname, search, host } = new URL(url);
      const found = listeners.get(Number(port));
      const answer = (response: SimulatedResponse | null) => outside(latencyMs(), () => resolve(response));
      if (found === undefined || found.domain.isDead) {
        answer(null);
        return;
      }
      const request = {
        method: 'GET',
        path: pathname,
        query: search.slice(1),
        headers: { host, ...headers },
        ...reading,
      };
      time.schedule(
        latencyMs(),
        () => void found.listener.handle(request).then(answer, () => answer(null)),
        found.domain,
      );
    });
  }

  const world: SimulatedWorld = {
    time,
    random,
    nats,
    clickHouse,
    weather,
    chain,
    get number() {
      return number;
    },
    crashAfter: (domain, sendings) => crashes.set(domain, sendings),
    crashBehind: (domain, isLast) => crashesBehind.set(domain, isLast),
    sleep: (ms) => new Promise((resolve) => outside(ms, resolve)),
    run: (domain, start) =>
      new Promise((resolve, reject) => {
        const back = (settle: () => void) => outside(0, settle);
        time.schedule(
          0,
          () => {
            start().then(
              (result) => back(() => resolve(result)),
              (error: unknown) => back(() => reject(error)),
            );
          },
          domain,
        );
      }),
    request: (url, headers = {}) =>
      new Promise((resolve) => {
        outside(answerMs, () => resolve(null));
        send(url, headers).then(resolve);
      }),
    listen: (url, headers, { onPiece, leaving }) =>
      send(url, headers, { onPiece: (text) => outside(0, () => onPiece(text)), leaving }),
    fingerprint: () => sent.copy().digest('hex').slice(0, 16),
  };
  const number = enterWorld({
    time,
    random: random.fork('program'),
    connect: (port, client) => {
      const { domain } = time;
      if (port !== natsPort) return null;
      const release = hold('connections to NATS');
      const server = nats.accept({
        receive: (bytes) => time.schedule(0, () => client.receive(bytes), domain),
        cut: () => {
          release();
          time.schedule(0, () => client.cut(), domain);
        },
      });
      if (server === null) {
        release();
        return null;
      }
      return {
        closed: () => {
          release();
          server.closed();
        },
        receive: (bytes) => {
          onSend(domain, bytes);
          if (!domain.isDead) server.receive(bytes);
        },
      };
    },
    database: () =>
      createDatabaseLink({
        time,
        server: clickHouse,
        latencyMs,
        lateMs: () => latency.integer(500, 60_000),
        fateOf: (kind, sql) => weather.fateOfStatement(kind, sql),
        onSend,
      }),
    rpc: createNodeLink({
      time,
      chain,
      random: random.fork('node'),
      latencyMs,
      fateOf: () => weather.fateOfRequest(),
      lagBlocks: () => weather.lagBlocks,
      onSend,
    }),
    listen: (port, listener) => {
      const chosen = port === 0 ? ++lastPort : port;
      listeners.set(chosen, { domain: time.domain, listener });
      return chosen;
    },
    unlisten: (port) => listeners.delete(port),
  });
  // The client of NATS shares one among all connections, and an earlier simulation may have used it.
  nuid.reset();
  return world;
}
