import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { whenFinished } from '../processes/lifetime.ts';
import {
  type createProxyClients,
  proxiedHost as host,
  proxiedName as name,
  proxiedPath,
} from './proxyClients.ts';
import { unusualRequests } from './unusualRequests.ts';

/** A proxy that several clients use concurrently. */
export interface SharedProxy extends ReturnType<typeof createProxyClients> {
  /** Log lines since the last call about servers that closed a connection or did not answer. */
  takeComplaints(): readonly string[];
}

/** Beginning of HAProxy's own responses: a page if its parser refuses. */
const refusal = /^(?:\{"error":"\w+"\}|<html>)/;

/** Number of repetitions of an attack. Each time, every other client sends a request. */
const rounds = 3;

const request = (headers: string, target = proxiedPath, method = 'GET') =>
  `${method} ${target} HTTP/1.1\r\n${host}Connection: close\r\n${headers}\r\n`;
const following = (target = proxiedPath) => `GET ${target} HTTP/1.1\r\n${host}\r\n`;
const repeat = (count: number, header: string) => `${header}\r\n`.repeat(count);
const chunked = 'Transfer-Encoding: chunked\r\n';

/** Byte sequences by which a client may disturb others, each on its own connection: each limit and each special case of a proxy's parser once. */
const attacks: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(unusualRequests).map(([what, sent]) => [what, sent + request('')])),
  'a chunk and a long trailer': `${request(chunked)}3\r\nabc\r\n0\r\nX-Trailer: ${'a'.repeat(200)}\r\n\r\n`,
  'chunks on another method': `${request(chunked, '/', 'POST')}0\r\nX-Trailer: a\r\n\r\n`,
  '49 headers': request(repeat(49, 'X-Other: a')),
  '200 headers': request(repeat(200, 'X-Other: a')),
  '60 lines of a header that is sent on': request(repeat(60, 'X-Request-Id: a')),
  'a long If-None-Match': request(`If-None-Match: ${'"a", '.repeat(1_500)}\r\n`),
  'a large cookie': request(`Cookie: ${'a'.repeat(7_900)}\r\n`),
  'a control character in a header that is sent on': request('Origin: a\x01b\r\n'),
  'the method FOO': request('', proxiedPath, 'FOO'),
  'CONNECT to a host': request('', `${name}:443`, 'CONNECT'),
  'OPTIONS *': request('', '*', 'OPTIONS'),
  'a tab in the target': request('', '/v1/\tstatus'),
  'a target of 30,000 characters': request('', `/${'a'.repeat(30_000)}`),
  'requests in a row': following().repeat(20) + request(''),
  'an expectation': `${request('Expect: 100-continue\r\nContent-Length: 5\r\n')}hello`,
  'an upgrade to HTTP/2': request('Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n').replace(
    'close',
    'Upgrade, HTTP2-Settings, close',
  ),
  'a body that is longer than it says': request('Content-Length: 3\r\n') + 'abc'.repeat(1_000),
  'a large body': request('Content-Length: 20000\r\n') + 'a'.repeat(20_000),
};

/** Requests without an end, or with unread responses. They are reset after the others were served. */
const heldAttacks: Readonly<Record<string, string>> = {
  'half a request line': 'GET /v1/pub',
  'half the headers': `GET ${proxiedPath} HTTP/1.1\r\n${host}X-Other: a`,
  'half a body': `${request('Content-Length: 500\r\n')}abc`,
  'half a chunk': `${request(chunked)}ff\r\nabc`,
  'half a trailer': `${request(chunked)}0\r\nX-Trailer: a`,
  'large answers that are not read': following('/docs/swagger-ui-bundle.js').repeat(3),
};

interface Http2Attack {
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
  readonly trailers?: OutgoingHttpHeaders;
}

const http2Attacks: Readonly<Record<string, Http2Attack>> = {
  'a body without a length, and a trailer': { body: 'abc', trailers: { 'x-trailer': 'a' } },
  'a body with a wrong length': { headers: { 'content-length': '9' }, body: 'abc' },
  'an unknown method': { headers: { ':method': 'FOO' } },
  '70 headers': {
    headers: Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`x-other-${at}`, 'a'])),
  },
  '70 cookies': { headers: { cookie: Array(70).fill('a=b') } },
  'a space in the path': { headers: { ':path': '/v1/status HTTP/1.1' } },
};

/** Tests a proxy in front of two servers: it answers every attack and every request of other clients. */
export function testAttacks(useProxy: () => Promise<SharedProxy>): void {
  /** Collects what the attack of each round opens, while the other clients are served. */
  async function collect<Opened>(proxy: SharedProxy, attack: (from: string) => Promise<Opened>) {
    const opened: Promise<Opened>[] = [];
    await expectOthersServed(proxy, (round) => {
      opened.push(attack(`198.51.100.${round + 1}`));
    });
    return Promise.all(opened);
  }

  it.each(Object.entries(attacks))('by %s, who is answered', async (_, attack) => {
    const proxy = await useProxy();
    // The proxy answers itself or with a server's response.
    for (const answer of await collect(proxy, (from) => proxy.exchange(attack, from))) {
      expect(answer).toMatch(/^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 [2-4]\d\d/);
      if (answer.startsWith('HTTP/1.1 4'))
        expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toMatch(refusal);
    }
    expect(proxy.takeComplaints()).toEqual([]);
  });

  it.each(Object.entries(http2Attacks))('over HTTP/2 by %s, who is answered', async (_, attack) => {
    const proxy = await useProxy();
    const answers = await collect(proxy, async (from) => {
      const session = await openSession(proxy, from);
      return askHttp2(session, attack).finally(() => session.destroy());
    });
    for (const answer of answers)
      expect(answer).toMatch(/^(?:200|304|4\d\d \{"error":"\w+"\}|ERR_HTTP2_(?:STREAM|SESSION)_ERROR)/);
    expect(proxy.takeComplaints()).toEqual([]);
  });

  it.each(Object.entries(heldAttacks))('by %s', async (_, attack) => {
    const proxy = await useProxy();
    const held = await collect(proxy, async (from) => {
      const socket = await proxy.open(from);
      socket.write(attack);
      return socket;
    });
    for (const socket of held) socket.destroy();
    await expectOthersServed(proxy);
    expect(proxy.takeComplaints()).toEqual([]);
  });

  it('by resetting streams at once', async () => {
    const proxy = await useProxy();
    const session = await openSession(proxy, '198.51.100.1');
    await expectOthersServed(proxy, () => {
      for (let stream = 0; stream < 40 && !session.destroyed; stream++) {
        const sent = session.request({ ':path': '/docs/swagger-ui-bundle.js', ':authority': name });
        sent.on('error', () => undefined);
        sent.close();
      }
    });
    session.destroy();
    expect(proxy.takeComplaints()).toEqual([]);
  });
}

/** Clients with open HTTP/1.1 and HTTP/2 connections that send requests during an attack. */
async function expectOthersServed(
  proxy: SharedProxy,
  attack: (round: number) => void = () => undefined,
): Promise<void> {
  // New ones each time, because all attacks together exceed a client's rate limit.
  const createAddress = () => `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;
  const agents = [createAddress(), createAddress()].map((from) => createAgent(proxy, from));
  const sessions = await Promise.all(
    [createAddress(), createAddress()].map((from) => openSession(proxy, from)),
  );
  const statuses: string[] = [];
  for (let round = 0; round < rounds; round++) {
    attack(round);
    for (const agent of agents) statuses.push(await askHttp1(agent));
    for (const session of sessions) statuses.push((await askHttp2(session)).slice(0, 3));
  }
  for (const connection of [...agents, ...sessions]) connection.destroy();
  expect(statuses).toEqual(statuses.map(() => '200'));
}

function createAgent({ open }: SharedProxy, from: string): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agent.createConnection = (_options, opened) => {
    open(from).then(
      (socket) => opened?.(null, socket),
      (error) => opened?.(error, undefined as never),
    );
    return undefined;
  };
  whenFinished(() => agent.destroy());
  return agent;
}

async function askHttp1(agent: Agent): Promise<string> {
  const sent = get({ agent, path: proxiedPath, headers: { Host: name } });
  try {
    const [response] = await once(sent, 'response');
    await text(response);
    return String(response.statusCode);
  } catch (error) {
    return String(error);
  }
}

async function openSession({ open }: SharedProxy, from: string): Promise<ClientHttp2Session> {
  const socket = await open(from);
  const session = connectHttp2(`http://${name}`, { createConnection: () => socket });
  session.on('error', () => undefined);
  whenFinished(() => session.destroy());
  return session;
}

/** @returns status and body, or the error's code. */
async function askHttp2(
  session: ClientHttp2Session,
  { headers, body, trailers }: Http2Attack = {},
): Promise<string> {
  try {
    const sent = session.request(
      { ':path': proxiedPath, ':authority': name, ...headers },
      { endStream: body === undefined, waitForTrailers: trailers !== undefined },
    );
    if (trailers !== undefined) sent.once('wantTrailers', () => sent.sendTrailers(trailers));
    const responded = once(sent, 'response');
    if (body !== undefined) sent.end(body);
    const [answered] = await responded;
    return `${answered[':status']} ${await text(sent)}`;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

/** Returns matching lines of a process's output since the last call. */
export function createComplaints(output: () => string, complaint: RegExp): () => readonly string[] {
  let seen = 0;
  return () => {
    const lines = output().slice(seen).split('\n');
    seen = output().length;
    return lines.filter((line) => complaint.test(line));
  };
}
