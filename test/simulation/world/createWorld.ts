import { createHash } from 'node:crypto';
import type { Session } from 'chdb';
import type { EthereumChain } from '../chain/ethereumNode.ts';
import { createNodeLink, type RequestFate } from '../chain/nodeLink.ts';
import { createSimulatedClickHouse } from '../clickhouse/simulatedClickHouse.ts';
import { minorVersions } from '../nats/memoryStore.ts';
import { createSimulatedNats, type Fate } from '../nats/simulatedNats.ts';
import {
  enterWorld,
  type SimulatedListener,
  type SimulatedRequest,
  type SimulatedResponse,
} from './currentWorld.ts';
import { createDatabaseLink, type StatementFate } from './databaseLink.ts';
import { createRandom } from './random.ts';
import { createVirtualTime, type Domain } from './virtualTime.ts';

/** Whether a statement, or a request to the node, is refused. */
export type Refusal = (kind: 'read' | 'write' | 'request', sql?: string) => boolean;

/** Present faults. The fate of each message, statement and request is drawn anew. */
interface Weather {
  readonly refusals: Set<Refusal>;
  fateOfMessage: () => Fate;
  fateOfStatement: (kind: 'read' | 'write') => StatementFate;
  fateOfRequest: () => RequestFate;
  /** Number of newest blocks that the node does not know yet. */
  lagBlocks: number;
  /** Longest latency. */
  latencyMsMax: number;
}

/** A world with one nats-server, one ClickHouse, one node and any number of processes. */
export type SimulatedWorld = ReturnType<typeof createWorld>;

export const fairWeather = (): Weather => ({
  refusals: new Set(),
  fateOfMessage: () => 'answered',
  fateOfStatement: () => 'answered',
  fateOfRequest: () => 'answered',
  lagBlocks: 0,
  latencyMsMax: 4,
});

/** Longest wait for an answer. */
const answerMs = 60_000;

export function createWorld(seed: string, startMs: number, chain: EthereumChain, engine: Session) {
  const time = createVirtualTime(startMs);
  const random = createRandom(seed);
  const weather = fairWeather();
  const latency = random.fork('latency');
  const isRefused: Refusal = (...what) => [...weather.refusals].some((refuses) => refuses(...what));
  const latencyMs = () => 0.1 + latency.next() * latency.next() * weather.latencyMsMax;
  const listeners = new Map<number, { readonly domain: Domain; readonly listener: SimulatedListener }>();
  const crashes = new Map<Domain, number>();
  const crashesBehind = new Map<Domain, (sent: Buffer) => boolean>();
  let lastPort = 20_000;

  const outside = (delayMs: number, run: () => void) => time.schedule(delayMs, run, time.outside);
  const nats = createSimulatedNats({
    minorVersion: random.fork('nats version').pick(minorVersions),
    time,
    wallMs: () => time.within(time.outside, time.wallMs),
    latencyMs,
    fateOf: () => weather.fateOfMessage(),
    onSend,
  });
  const clickHouse = createSimulatedClickHouse(engine);

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

  const world = {
    time,
    random,
    nats,
    clickHouse,
    weather,
    /** The chain of the node. */
    chain,
    /** Counts the worlds of this program. */
    get number(): number {
      return number;
    },
    /** Kills a process before its n-th sending. */
    crashAfter: (domain: Domain, sendings: number) => crashes.set(domain, sendings),
    /** Kills a process before its first sending after a message or statement for which this is true. */
    crashBehind: (domain: Domain, isLast: (sent: Buffer) => boolean) => crashesBehind.set(domain, isLast),
    /** Outside of every process. */
    sleep: (ms: number) => new Promise<void>((resolve) => outside(ms, resolve)),
    /** Starts something in a process of its own. */
    run: <Result>(domain: Domain, start: () => Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
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
    /** Null if nothing listens, or the process dies before it answers. */
    request: (url: string, headers: SimulatedRequest['headers'] = {}) =>
      new Promise<SimulatedResponse | null>((resolve) => {
        outside(answerMs, () => resolve(null));
        send(url, headers).then(resolve);
      }),
    /** Reads a response piece by piece until the client leaves. Resolves with its end, as `request` does. */
    listen: (
      url: string,
      headers: SimulatedRequest['headers'],
      { onPiece, leaving }: Required<Pick<SimulatedRequest, 'onPiece' | 'leaving'>>,
    ) => send(url, headers, { onPiece: (text) => outside(0, () => onPiece(text)), leaving }),
    /** Digest of everything that processes sent, with times. */
    fingerprint: () => sent.copy().digest('hex').slice(0, 16),
  };
  const number = enterWorld({
    time,
    random: random.fork('program'),
    openJetStream: nats.open,
    database: () =>
      createDatabaseLink({
        time,
        server: clickHouse,
        latencyMs,
        lateMs: () => latency.integer(500, 60_000),
        fateOf: (kind, sql) => (isRefused(kind, sql) ? 'refused' : weather.fateOfStatement(kind)),
        onSend,
      }),
    rpc: createNodeLink({
      time,
      chain,
      random: random.fork('node'),
      latencyMs,
      fateOf: () => (isRefused('request') ? 'refused' : weather.fateOfRequest()),
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
  return world;
}
