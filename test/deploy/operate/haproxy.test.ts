import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../../actors/pages/olderRows.ts';
import { findServer } from '../../../deploy/local/childServer.ts';
import { rateClasses } from '../../../http/routes/rateClasses.ts';
import { defaultReadTimeoutMs } from '../../../http/server/answers/pendingReads.ts';
import { eventStreamPath, heartbeatMs } from '../../../http/server/events/eventStream.ts';
import { createComplaints, type SharedProxy, testAttacks } from '../../support/http/proxyAttacks.ts';
import {
  countAnswered,
  createProxyClients,
  proxiedHost as host,
  proxiedName as name,
  proxiedPath as path,
} from '../../support/http/proxyClients.ts';
import { startPublicServer } from '../../support/http/publicServer.ts';
import { lastRequest, type UnusualRequest, unusualRequests } from '../../support/http/unusualRequests.ts';
import { createCertificate } from '../../support/processes/certificate.ts';
import { startCuttingProxy } from '../../support/processes/cuttingProxy.ts';
import { startHaproxy, type TestHaproxy } from '../../support/processes/haproxy.ts';
import {
  eventually,
  shareInFile,
  temporaryDirectory,
  whenFinished,
} from '../../support/processes/lifetime.ts';
import type { Replacement } from '../../support/processes/rewriteConfiguration.ts';
import { readDeployFile } from './deployFiles.ts';

const program = findServer('haproxy');
const configuration = readDeployFile('proxy/haproxy.cfg');

const createClients = ({ proxiedPort }: TestHaproxy) => createProxyClients(proxiedPort);

/** The service with its rate limits behind HAProxy. */
const useProxy = shareInFile(async () => {
  const server = await startPublicServer({ rateLimits: true, trustedProxies: ['127.0.0.1'] });
  const clients = createClients(await startHaproxy(program ?? '', server.port));
  // HAProxy asks another route for itself.
  return { ...clients, countAnswered: () => countAnswered(server.registry) };
});

/** Two servers behind HAProxy. */
const useSharedProxy = shareInFile(async (): Promise<SharedProxy> => {
  const ports = [(await startPublicServer()).port, (await startPublicServer()).port];
  const haproxy = await startHaproxy(program ?? '', ports, [
    ['log stdout format raw local0 notice', 'log stdout format raw local0'],
    ['option dontlognull', 'option httplog'],
  ]);
  return {
    ...createClients(haproxy),
    // A session that the server ended, or a request that was sent once more.
    takeComplaints: createComplaints(haproxy.output, / (?:[Ss]\S{3} |\S{4} (?:\d+\/){4}\+?[1-9])/),
  };
});

describe.skipIf(program === null)('the service behind HAProxy', () => {
  it('answers', async () => {
    const { exchange } = await useProxy();
    expect(await exchange(lastRequest)).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*etag: "12\.abc"\r\n/i);
  });

  it.each<UnusualRequest>([
    'two lengths',
    'a length with a sign',
    'an unknown encoding',
    'two hosts',
    'no host',
    'HTTP/1.0',
    'an empty header name',
    'a line without a colon',
    'a target without a slash',
    'nothing that is HTTP',
    'headers of 64 KB',
  ])('never sees a request with %s', async (request) => {
    const { exchange, countAnswered } = await useProxy();
    const before = await countAnswered();
    const received = await exchange(`${unusualRequests[request]}${lastRequest}`);
    expect(received).toMatch(/^HTTP\/1\.1 [45]\d\d/);
    // A request refused by a rule leaves the connection open for the next one.
    const answers = received.match(/HTTP\/1\.1 200/g)?.length ?? 0;
    expect(answers).toBeLessThanOrEqual(1);
    expect(received.match(/"schemaVersion"/g)?.length ?? 0).toBe(answers);
    expect((await countAnswered()) - before).toBe(answers);
  });

  it.each<UnusualRequest>([
    'one length twice',
    'odd characters in a header name',
    'an empty line in front',
    'two spaces',
    'a target in absolute form',
    'a version that does not exist',
    'a body',
  ])('answers a request with %s once', async (request) => {
    const { exchange } = await useProxy();
    const received = await exchange(`${unusualRequests[request]}${lastRequest}`);
    expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200']);
  });

  it('sends on the headers that the service reads', async () => {
    const { port } = await startPublicServer();
    const { exchange } = createClients(await startHaproxy(program ?? '', port));
    const ask = (headers: string, target = path, method = 'GET') =>
      exchange(`${method} ${target} HTTP/1.1\r\n${host}Connection: close\r\n${headers}\r\n\r\n`);
    expect(await ask('If-None-Match: *', '/docs/style.css')).toMatch(/^HTTP\/1\.1 304/);
    expect(await ask('Accept-Encoding: br', '/docs/style.css')).toMatch(/\r\ncontent-encoding: br\r\n/i);
    const preflight = 'Origin: https://wheel.example\r\nAccess-Control-Request-Method: GET';
    expect(await ask(preflight, '/', 'OPTIONS')).toMatch(/^HTTP\/1\.1 204/);
    expect(await ask('X-Request-Id: chosen-by-client')).toMatch(/\r\nx-request-id: chosen-by-client\r\n/i);
    expect(await ask('Last-Event-ID: none', eventStreamPath)).toContain('"invalid_cursor"');
  });

  it('limits a client despite its claims about its address, and no other client', async () => {
    const { status } = await useProxy();
    const { burst } = rateClasses.publicHeavy;
    const statuses: number[] = [];
    for (let index = 0; index <= burst; index++) {
      const spoofed = `X-Forwarded-For: 198.51.100.${index}\r\nX-Forwarded-For: 203.0.113.${index}\r\nForwarded: for=192.0.2.${index}\r\n`;
      // A new address of the same network each time.
      statuses.push(await status(`2001:db8:1:2::${(index + 1).toString(16)}`, '/v1/events', spoofed));
    }
    expect(statuses.slice(0, burst)).not.toContain(429);
    expect(statuses.at(-1)).toBe(429);
    expect(await status('2001:db8:1:3::1', '/v1/events')).not.toBe(429);
  });

  it('is spared a flood of one network, and of one site', async () => {
    const server = await startPublicServer();
    const proxy = await startHaproxy(program ?? '', server.port, [
      ['sc0_http_req_rate gt 1000', 'sc0_http_req_rate gt 10'],
      ['sc1_http_req_rate gt 16000', 'sc1_http_req_rate gt 30'],
    ]);
    const { status } = createClients(proxy);
    await eventually(async () => (await status('192.0.2.1')) === 200, 'a server that is ready');
    const count = async (network: number, requests: number) => {
      let answered = 0;
      for (let request = 0; request < requests; request++)
        if ((await status(`2001:db8:7:${network}::${request + 1}`)) === 200) answered++;
      return answered;
    };
    expect(await count(1, 15)).toBe(10);
    expect(await count(2, 15)).toBe(10);
    // Refused ones count as well.
    expect(await count(3, 5)).toBe(0);
    expect(await status('2001:db8:8:1::1')).toBe(200);
    // Through NAT64 each IPv4 address is a client, and they have no common site.
    for (let client = 1; client <= 40; client++) expect(await status(`64:ff9b::192.0.2.${client}`)).toBe(200);
  });

  it('has a bound of connections of one network, and of one site', async () => {
    const server = await startPublicServer();
    const proxy = await startHaproxy(program ?? '', server.port, [
      ['sc0_conn_cur gt 100', 'sc0_conn_cur gt 3'],
      ['sc1_conn_cur gt 1600', 'sc1_conn_cur gt 6'],
    ]);
    const { open } = createClients(proxy);
    /** Connections that the proxy has not closed. */
    const sockets: Socket[] = [];
    const isKept = async (from: string): Promise<boolean> => {
      const socket = await open(from);
      sockets.push(socket);
      // One that is not kept may be reset under the request.
      return new Promise((resolve) => {
        socket.once('data', () => resolve(true));
        socket.once('close', () => resolve(false));
        socket.write(`GET ${path} HTTP/1.1\r\n${host}\r\n`);
      });
    };
    const keep = async (network: number, count: number) => {
      const kept: boolean[] = [];
      for (let client = 1; client <= count; client++)
        kept.push(await isKept(`2001:db8:7:${network}::${client}`));
      return kept.filter(Boolean).length;
    };
    expect(await keep(1, 5)).toBe(3);
    expect(await keep(2, 2)).toBe(2);
    expect(await keep(3, 3)).toBe(1);
    expect(await isKept('2001:db8:8:1::1')).toBe(true);
    for (const socket of sockets) socket.destroy();
    await eventually(() => isKept('2001:db8:7:1::9'), 'room for another one');
  });
});

describe.skipIf(program === null)('two servers behind HAProxy, with other clients while one attacks', () => {
  testAttacks(useSharedProxy);
});

/** Reads the event stream over a connection. Returns whether it has ended. */
async function beginStream(socket: Socket) {
  const stream = { received: '', isClosed: false };
  socket.on('data', (chunk) => {
    stream.received += chunk;
  });
  socket.on('close', () => {
    stream.isClosed = true;
  });
  socket.write(`GET ${eventStreamPath} HTTP/1.1\r\n${host}\r\n`);
  await eventually(() => stream.received.includes('retry: '), 'the beginning of the stream');
  return stream;
}

describe.skipIf(program === null)('the certificate of HAProxy', () => {
  it('is renewed as the runbook says, and event streams go on', async () => {
    const server = await startPublicServer();
    const dir = temporaryDirectory();
    const certificate = join(dir, 'secrets/certificate.pem');
    mkdirSync(join(dir, 'secrets'));
    const [, section = ''] =
      /^### Renewing certificates\n.*?^\*\*Of the proxy\*\*.*?^```sh\n(.*?)^```$/ms.exec(
        readDeployFile('RUNBOOK.md'),
      ) ?? [];
    const [, copy = ''] = /^(cat .*)$/m.exec(section) ?? [];
    const renew = () => {
      const { certificate: chain, key } = createCertificate(dir, name);
      renameSync(chain, join(dir, 'fullchain.pem'));
      renameSync(key, join(dir, 'privkey.pem'));
      execFileSync('sh', ['-c', copy], { cwd: dir });
    };
    renew();
    const haproxy = await startHaproxy(program ?? '', server.port, [], { certificate });
    const open = async () => {
      const socket = connectTls({
        host: '127.0.0.1',
        port: haproxy.tlsPort,
        servername: name,
        rejectUnauthorized: false,
      });
      whenFinished(() => socket.destroy());
      await once(socket, 'secureConnect');
      return socket;
    };
    const before = await open();
    const stream = await beginStream(before);
    // The container sees the file by its inode.
    const { ino } = statSync(certificate);
    renew();
    expect(statSync(certificate).ino).toBe(ino);
    const [, signal = ''] = /kill --signal (\w+) proxy$/m.exec(section) ?? [];
    haproxy.child.kill(`SIG${signal}` as NodeJS.Signals);
    const { serialNumber } = before.getPeerCertificate();
    await eventually(
      async () => (await open()).getPeerCertificate().serialNumber !== serialNumber,
      'the new certificate',
    );
    expect(stream.isClosed).toBe(false);
  });
});

/** Changes a setting of the reference configuration. */
function setTo(setting: string, value: string): Replacement {
  return [new RegExp(`^ {2}${setting} \\d+\\w+$`, 'gm'), `  ${setting} ${value}`];
}

/** A duration of the reference configuration, in seconds. */
function readSeconds(setting: string): number {
  const [, number, unit = ''] = new RegExp(`^ {2}${setting} (\\d+)([smhd])$`, 'm').exec(configuration) ?? [];
  return Number(number) * ({ s: 1, m: 60, h: 3_600, d: 86_400 }[unit] ?? Number.NaN);
}

it('HAProxy keeps the addresses of servers while DNS does not work, longer than any outage that nobody repairs', () => {
  for (const status of ['timeout', 'refused', 'other'])
    expect([status, readSeconds(`hold ${status}`) >= 86_400]).toEqual([status, true]);
  const defaults = configuration.match(/^ {2}default-server .*$/gm) ?? [];
  for (const one of defaults) expect(one).toMatch(/ resolvers containers init-addr libc,none$/);
  expect(defaults).toHaveLength(2);
});

describe.skipIf(program === null)('two servers behind HAProxy, one of them frozen', () => {
  it('answer each request and keep event streams', async () => {
    const servers = [await startPublicServer(), await startPublicServer()];
    const links = await Promise.all(servers.map(({ base }) => startCuttingProxy(base)));
    const ports = links.map(({ url }) => Number(new URL(url).port));
    const haproxy = await startHaproxy(program ?? '', ports, [
      setTo('timeout server', '1s'),
      // No check marks the frozen server down before it is asked.
      ['fall 2', 'fall 1000'],
      ['log stdout format raw local0 notice', 'log stdout format raw local0'],
      ['option dontlognull', 'option httplog'],
    ]);
    const takeRetries = createComplaints(haproxy.output, / \S{4} (?:\d+\/){4}\+?[1-9]/);
    const { open, status } = createClients(haproxy);
    await eventually(async () => (await status('192.0.2.1')) === 200, 'a server');
    const stream = await beginStream(await open('192.0.2.2'));
    // More than sockets hold, for a client that does not read yet.
    const slow = await open('192.0.2.3');
    const large = `GET /docs/swagger-ui-bundle.js HTTP/1.1\r\n${host}`;
    slow.write(`${`${large}\r\n`.repeat(9)}${large}Connection: close\r\n\r\n`);
    const readers = await Promise.all(
      servers.map(async ({ registry }) => registry.getSingleMetric('miner_event_stream_clients')?.get()),
    );
    const frozen = links[readers.findIndex((metric) => metric?.values[0]?.value === 0)];
    frozen?.hold(true);
    const asked = Array.from({ length: 4 }, (_, at) => status(`192.0.2.${10 + at}`));
    expect(await Promise.all(asked)).toEqual([200, 200, 200, 200]);
    expect(takeRetries()).not.toEqual([]);
    // Both have been quiet for longer than a server may take for an answer.
    expect(stream.isClosed).toBe(false);
    expect((await text(slow)).match(/HTTP\/1\.1 200 OK/g)).toHaveLength(10);
  });

  it('have time for answers and for comments of event streams', () => {
    const seconds = readSeconds('timeout server');
    expect(seconds).toBeGreaterThan(defaultReadTimeoutMs / 1_000);
    expect(seconds).toBeLessThan((defaultReadTimeoutMs / 1_000) * 1.5);
    const rule = /^ {2}http-request set-timeout server (\d+)s if \{ path (\S+) \}$/gm;
    const rules = [...configuration.matchAll(rule)];
    expect(rules.map(([, , path]) => path)).toEqual([eventStreamPath, eventStreamPath]);
    for (const [, given] of rules) expect(Number(given)).toBeGreaterThan((2 * heartbeatMs) / 1_000);
    expect(readSeconds('timeout client')).toBeGreaterThan((2 * heartbeatMs) / 1_000);
  });
});

describe.skipIf(program === null)('two servers behind HAProxy, ready or not', () => {
  it('are asked while they are ready, and both while none is', async () => {
    const servers = [await startPublicServer(), await startPublicServer()] as const;
    const [first, second] = servers;
    const { status } = createClients(
      await startHaproxy(
        program ?? '',
        servers.map(({ port }) => port),
      ),
    );
    /** Whether a request is answered, and by this server. */
    const answers = async ({ registry }: typeof first) => {
      const before = await countAnswered(registry);
      return (await status('192.0.2.1')) === 200 && (await countAnswered(registry)) > before;
    };
    await eventually(() => answers(first), 'the first server');
    await eventually(() => answers(second), 'the second server');
    first.ready = false;
    await eventually(
      async () => !(await answers(first)) && !(await answers(first)),
      'the second server alone',
    );
    second.ready = false;
    await eventually(() => answers(first), 'both servers');
  });

  it('answer 503 themselves, once for each request, and get none until they are ready', async () => {
    const refuse = () => Promise.reject(new StoreUnavailable('busy'));
    const servers = [await startPublicServer({ observations: { page: refuse } }), await startPublicServer()];
    const [refusing] = servers;
    const ports = servers.map(({ port }) => port);
    // Nothing but an answer has a server checked.
    const proxy = await startHaproxy(program ?? '', ports, [['inter 2s', 'inter 1h']]);
    const { status } = createClients(proxy);
    const observations = '/v1/public/installations/wheel-1/observations';
    const askAll = async () => {
      const statuses: number[] = [];
      for (let request = 0; request < 10; request++)
        statuses.push(await status(`192.0.2.${request}`, observations));
      return statuses;
    };
    const statuses = await askAll();
    expect(statuses).toEqual(expect.arrayContaining([200, 503]));
    const metric = await refusing?.registry.getSingleMetric('miner_http_requests_total')?.get();
    const refused = metric?.values.filter(({ labels }) => labels.status === '503');
    expect(refused?.map(({ value }) => value)).toEqual([statuses.filter((one) => one === 503).length]);
    if (refusing !== undefined) refusing.ready = false;
    await eventually(async () => (await askAll()).every((one) => one === 200), 'the server that is ready');
  });
});
