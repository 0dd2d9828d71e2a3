import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { findServer } from '../../../deploy/local/childServer.ts';
import { defaultReadTimeoutMs } from '../../../http/server/answers/pendingReads.ts';
import { heartbeatMs } from '../../../http/server/events/eventStream.ts';
import { eventStreamPath } from '../../../http/server/mountEventStream.ts';
import {
  createComplaints,
  expectHeadersSentOn,
  expectOthersServed,
  type SharedProxy,
  testAttacks,
} from '../../support/http/proxyAttacks.ts';
import {
  connectFrom,
  countAnswered,
  createProxyClients,
  expectLimitOfNetwork,
  proxiedHost as host,
  proxiedName as name,
  proxiedPath as path,
} from '../../support/http/proxyClients.ts';
import { startPublicServer } from '../../support/http/publicServer.ts';
import {
  expectAnswers,
  expectRefusal,
  lastRequest,
  type UnusualRequest,
} from '../../support/http/unusualRequests.ts';
import { eventually } from '../../support/processes/childProcess.ts';
import { startCuttingProxy } from '../../support/processes/cuttingProxy.ts';
import { shareInFile, whenFinished } from '../../support/processes/lifetime.ts';
import { startNginx, type TestNginx } from '../../support/processes/nginx.ts';
import { readDeployFile } from './deployFiles.ts';

const program = findServer('nginx');

function createClients({ certificate: ca, proxiedPort }: TestNginx) {
  const open = async (from: string, protocol = 'http/1.1'): Promise<TLSSocket> => {
    const socket = await connectFrom(proxiedPort, from);
    const tls = connectTls({ socket, ca, servername: name, ALPNProtocols: [protocol] });
    whenFinished(() => tls.destroy());
    await once(tls, 'secureConnect');
    return tls;
  };
  return { open, ...createProxyClients(open) };
}

/** Two servers behind nginx. */
const useSharedProxy = shareInFile(async (): Promise<SharedProxy> => {
  const ports = [(await startPublicServer()).port, (await startPublicServer()).port];
  const nginx = await startNginx(program ?? '', ports);
  const { open } = createClients(nginx);
  return {
    open,
    openHttp2: (from) => open(from, 'h2'),
    refusal: /^\{"error":"\w+"\}/,
    takeComplaints: createComplaints(nginx.output, /\[error\].*upstream/),
  };
});

/** The answer to a request over TLS, by the proxy's name. */
async function requestFrom({ certificate: ca, port }: TestNginx) {
  const headers = { Host: name };
  const sent = request({ host: '127.0.0.1', port, path, ca, servername: name, headers, agent: false });
  const responded = once(sent, 'response');
  sent.end();
  const [response]: IncomingMessage[] = await responded;
  if (response === undefined) throw new Error('nginx has not responded');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** The service with its rate limits behind nginx. */
const useProxy = shareInFile(async () => {
  const server = await startPublicServer({ rateLimits: true, trustedProxies: ['127.0.0.1'] });
  const nginx = await startNginx(program ?? '', server.port);
  return { nginx, ...createClients(nginx), countAnswered: () => countAnswered(server.registry) };
});

describe.skipIf(program === null)('the service behind nginx', () => {
  it('is reached by its name over TLS, and does not name its engine', async () => {
    const { nginx } = await useProxy();
    const response = await requestFrom(nginx);
    expect(response.status).toBe(200);
    expect(response.headers).toMatchObject({
      server: 'nginx',
      'strict-transport-security': 'max-age=31536000',
      'x-content-type-options': 'nosniff',
      etag: '"12.abc"',
    });
    expect(Object.keys(response.headers)).not.toContain('uwebsockets');
  });

  it('is not reached by another name', async () => {
    const { certificate: ca, port } = (await useProxy()).nginx;
    const socket = connectTls({ host: '127.0.0.1', port, ca, servername: 'other.example.org' });
    const [error] = await once(socket, 'error');
    expect(String(error)).toContain('unrecognized name');
  });

  it('is asked over HTTP/2, with at most 64 streams of a connection', async () => {
    const { certificate: ca, port } = (await useProxy()).nginx;
    const session = connectHttp2(`https://127.0.0.1:${port}`, { ca, servername: name });
    whenFinished(() => session.destroy());
    await once(session, 'remoteSettings');
    expect(session.remoteSettings.maxConcurrentStreams).toBe(64);
    const stream = session.request({ ':path': path, ':authority': name });
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).toBe(200);
    stream.resume();
    session.close();
  });

  it.each<UnusualRequest>([
    'two lengths',
    'one length twice',
    'a length with a sign',
    'a length and chunks',
    'an unknown encoding',
    'two encodings',
    'two hosts',
    'no host',
    'a folded line',
    'an empty header name',
    'a zero byte',
    'a version that does not exist',
    'a target without a slash',
    'nothing that is HTTP',
    'headers of 64 KB',
  ])('never sees a request with %s', async (request) => {
    const beginsWith = /^(?:HTTP\/1\.1 [45]\d\d|<html>|$)/;
    await expectRefusal(await useProxy(), request, { beginsWith, followingMax: 0 });
  });

  it.each<[UnusualRequest, answers: 1 | 2]>([
    ['a line without a colon', 2],
    ['HTTP/1.0', 1],
    ['odd characters in a header name', 2],
    ['a target in absolute form', 2],
    ['an empty line in front', 2],
    ['two spaces', 2],
    ['lines that end with LF alone', 2],
    ['a body', 2],
  ])('answers a request with %s once', async (request, answers) => {
    await expectAnswers(await useProxy(), request, answers);
  });

  it('sends on the headers that the service reads', async () => {
    const { port } = await startPublicServer();
    const { open } = createClients(await startNginx(program ?? '', port));
    await expectHeadersSentOn(open);
  });

  it('limits a client despite its claims about its address, and no other client', async () => {
    const { status } = await useProxy();
    await expectLimitOfNetwork(status);
  });

  it('is spared a flood of one network', async () => {
    const proxy = await useProxy();
    const before = await proxy.countAnswered();
    const flood = 1_500;
    const connections = 3;
    const requests = `GET /healthz HTTP/1.1\r\n${host}\r\n`.repeat(flood / connections);
    const answers = await Promise.all(
      Array.from({ length: connections }, (_, index) =>
        proxy.exchange(`${requests}${lastRequest}`, `2001:db8:7:7::${index + 1}`),
      ),
    );
    const limited = answers.join('').match(/HTTP\/1\.1 429/g)?.length ?? 0;
    expect(limited).toBeGreaterThan(0);
    expect(answers.join('')).toMatch(/Retry-After: 1\r\n(?:.+\r\n)*\r\n\{"error":"rate_limited"\}/);
    expect((await proxy.countAnswered()) - before).toBeLessThan(flood);
    expect(await proxy.status('2001:db8:7:8::1')).toBe(200);
  });

  it('counts each IPv4 address behind NAT64 as a client', async () => {
    const { port } = await startPublicServer();
    const nginx = await startNginx(program ?? '', port, [
      ['burst=200', 'burst=1'],
      ['burst=3200', 'burst=20'],
    ]);
    const { status } = createClients(nginx);
    const countLimited = async (network: (client: number) => string) => {
      const clients = Array.from({ length: 40 }, (_, client) => network(client + 1));
      const statuses = await Promise.all(clients.map((from) => status(from)));
      return statuses.filter((one) => one === 429).length;
    };
    expect(await countLimited((client) => `64:ff9b::192.0.2.${client}`)).toBe(0);
    expect(await countLimited((client) => `2001:db8:7:7::${client}`)).toBeGreaterThan(0);
  });

  it('bounds the connections being answered, of one network and of one site', async () => {
    const server = await startPublicServer({ rateLimits: true, trustedProxies: ['127.0.0.1'] });
    const { open } = createClients(
      await startNginx(program ?? '', server.port, [
        ['limit_conn connections 100;', 'limit_conn connections 3;'],
        ['limit_conn site_connections 1600;', 'limit_conn site_connections 6;'],
      ]),
    );
    const sockets: TLSSocket[] = [];
    const openStream = async (from: string): Promise<number> => {
      const socket = await open(from);
      sockets.push(socket);
      socket.write(`GET /v1/events/stream HTTP/1.1\r\n${host}\r\n`);
      const [answer] = await once(socket, 'data');
      return Number(/^HTTP\/1\.1 (\d{3})/.exec(String(answer))?.[1]);
    };
    const openStreams = async (network: number, count: number) => {
      const statuses: number[] = [];
      for (let client = 1; client <= count; client++)
        statuses.push(await openStream(`2001:db8:7:${network}::${client}`));
      return statuses;
    };
    expect(await openStreams(1, 4)).toEqual([200, 200, 200, 429]);
    expect(await openStreams(2, 2)).toEqual([200, 200]);
    expect(await openStreams(3, 2)).toEqual([200, 429]);
    expect(await openStream('2001:db8:8:1::1')).toBe(200);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => (await openStream('2001:db8:7:1::9')) === 200, 'room for another one');
  });

  it('sends events as they come', async () => {
    const { open } = await useProxy();
    const socket = await open('192.0.2.11');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.write(`GET /v1/events/stream HTTP/1.1\r\n${host}\r\n`);
    await eventually(
      () => /content-type: text\/event-stream.*retry: \d+/is.test(received),
      'the beginning of the stream',
    );
  });

  it('is replaced by a 503 of the contract while it is away', async () => {
    const server = await startPublicServer();
    const nginx = await startNginx(program ?? '', server.port === 1 ? 2 : 1);
    const response = await requestFrom(nginx);
    expect(response).toMatchObject({ status: 503, body: '{"error":"database_unavailable"}' });
  });
});

describe.skipIf(program === null)('two servers behind nginx, one of them frozen', () => {
  it('answer each request and keep event streams', async () => {
    const links = [];
    for (const { base } of [await startPublicServer(), await startPublicServer()])
      links.push(await startCuttingProxy(base));
    const ports = links.map(({ url }) => Number(new URL(url).port));
    const nginx = await startNginx(program ?? '', ports, [
      ['proxy_read_timeout 12s', 'proxy_read_timeout 1s'],
    ]);
    const takeTimeouts = createComplaints(nginx.output, /upstream timed out/);
    const { open, status } = createClients(nginx);
    const stream = await open('192.0.2.2');
    let received = '';
    let isClosed = false;
    stream.on('data', (chunk) => {
      received += chunk;
    });
    stream.on('close', () => {
      isClosed = true;
    });
    stream.write(`GET ${eventStreamPath} HTTP/1.1\r\n${host}\r\n`);
    await eventually(() => received.includes('retry: '), 'the beginning of the stream');
    const frozen = links.find(({ answered }) => !answered.includes('text/event-stream'));
    frozen?.hold(true);
    const asked = Array.from({ length: 4 }, (_, at) => status(`192.0.2.${10 + at}`));
    expect(await Promise.all(asked)).toEqual([200, 200, 200, 200]);
    expect(takeTimeouts()).not.toEqual([]);
    // It has been quiet for longer than a server may take for an answer.
    expect(isClosed).toBe(false);
  });

  it('have time for answers and for comments of event streams', () => {
    const configuration = readDeployFile('proxy/nginx.conf');
    const locations = configuration.matchAll(
      /location (\S+ )?(\S+) \{((?:(?!location).)*)proxy_read_timeout (\d+)s/gs,
    );
    const seconds = Object.fromEntries([...locations].map(([, , path, , given]) => [path, Number(given)]));
    expect(Object.keys(seconds)).toEqual(['/', eventStreamPath]);
    expect(seconds['/']).toBeGreaterThan(defaultReadTimeoutMs / 1_000);
    expect(seconds['/']).toBeLessThan((defaultReadTimeoutMs / 1_000) * 1.5);
    expect(seconds[eventStreamPath]).toBeGreaterThan((2 * heartbeatMs) / 1_000);
  });
});

describe.skipIf(program === null)('two servers behind nginx, with other clients while one attacks', () => {
  testAttacks(useSharedProxy);

  it('serve others while one server is gone, and another one has no state yet', async () => {
    const [serving, starting] = [await startPublicServer(), await startPublicServer()];
    starting.hasViews = false;
    const { open } = createClients(await startNginx(program ?? '', [serving.port, starting.port]));
    await expectOthersServed({ open, openHttp2: (from) => open(from, 'h2') });
    starting.close();
    await expectOthersServed({ open, openHttp2: (from) => open(from, 'h2') });
  });
});
