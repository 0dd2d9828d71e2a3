import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import {
  connectFrom,
  countAnswered,
  createProxyClients,
  expectLimitOfNetwork,
  proxiedName as name,
  proxiedPath as path,
} from '../../support/http/proxyClients.ts';
import { startPublicServer } from '../../support/http/publicServer.ts';
import { eventually } from '../../support/processes/childProcess.ts';
import { findProxy } from '../../support/processes/findProxy.ts';
import { shareInFile, whenFinished } from '../../support/processes/lifetime.ts';
import { startNginx, type TestNginx } from '../../support/processes/nginx.ts';

const program = findProxy('nginx');

function createClients({ certificate: ca, proxiedPort }: TestNginx) {
  const open = async (from: string): Promise<TLSSocket> => {
    const tls = connectTls({ socket: await connectFrom(proxiedPort, from), ca, servername: name });
    whenFinished(() => tls.destroy());
    await once(tls, 'secureConnect');
    return tls;
  };
  return { open, ...createProxyClients(open) };
}

/** The service with its rate limits behind nginx. */
const useProxy = shareInFile(async () => {
  const server = await startPublicServer({ rateLimits: true, trustedProxies: ['127.0.0.1'] });
  const nginx = await startNginx(program ?? '', server.port);
  const { certificate: ca, port } = nginx;
  return { server, ca, port, ...createClients(nginx) };
});

describe.skipIf(program === null)('the service behind nginx', () => {
  it('is reached by its name over TLS, and shows nothing of what it runs on', async () => {
    const { ca, port } = await useProxy();
    const response = await new Promise<{ status: number | undefined; headers: object }>((resolve, reject) => {
      request(
        { host: '127.0.0.1', port, path, ca, servername: name, headers: { Host: name }, agent: false },
        (message) => {
          message.resume();
          resolve({ status: message.statusCode, headers: message.headers });
        },
      )
        .on('error', reject)
        .end();
    });
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
    const { ca, port } = await useProxy();
    const socket = connectTls({ host: '127.0.0.1', port, ca, servername: 'other.example.org' });
    const [error] = await once(socket, 'error');
    expect(String(error)).toContain('unrecognized name');
  });

  it('is asked over HTTP/2, with so many streams of a connection and no more', async () => {
    const { ca, port } = await useProxy();
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

  const next = `GET ${path} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`;
  const host = `Host: ${name}\r\n`;
  it.each([
    ['two lengths', `GET ${path} HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 90\r\n\r\n`],
    ['one length twice', `GET ${path} HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`],
    ['a length with a sign', `GET ${path} HTTP/1.1\r\n${host}Content-Length: +0\r\n\r\n`],
    [
      'a length and chunks',
      `GET ${path} HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['an unknown encoding', `GET ${path} HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n`],
    ['two encodings', `GET ${path} HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['two hosts', `GET ${path} HTTP/1.1\r\n${host}Host: other.example.org\r\n\r\n`],
    ['no host', `GET ${path} HTTP/1.1\r\nX-Other: a\r\n\r\n`],
    ['a folded line', `GET ${path} HTTP/1.1\r\n${host}X-Other: a\r\n b\r\n\r\n`],
    // Behind an empty name the service's own parser sees no headers, and would find another request in the body.
    ['an empty header name', `GET ${path} HTTP/1.1\r\n${host}: x\r\nContent-Length: 5\r\n\r\nhello`],
    ['a zero byte', `GET ${path} HTTP/1.1\r\n${host}X-Other: a\0b\r\n\r\n`],
    ['a version that does not exist', `GET ${path} HTTP/9.9\r\n${host}\r\n`],
    ['nothing that is HTTP', 'hello\r\n\r\n'],
    [
      'headers of 64 KB',
      `GET ${path} HTTP/1.1\r\n${host}${`X-Other: ${'a'.repeat(1_000)}\r\n`.repeat(64)}\r\n`,
    ],
  ])('never sees a request with %s', async (_what, sent) => {
    const proxy = await useProxy();
    const before = await countAnswered(proxy.server.registry);
    const received = await proxy.exchange(`${sent}${next}`);
    expect(received).toMatch(/^(?:HTTP\/1\.1 [45]\d\d|<html>|$)/);
    expect(received).not.toContain('"schemaVersion"');
    expect(await countAnswered(proxy.server.registry)).toBe(before);
  });

  it.each([
    ['a line without a colon', `GET ${path} HTTP/1.1\r\n${host}broken\r\n\r\n`, 2],
    ['HTTP/1.0', `GET ${path} HTTP/1.0\r\n${host}\r\n`, 1],
    ['a target in absolute form', `GET https://${name}${path} HTTP/1.1\r\n${host}\r\n`, 2],
    ['lines that end with LF alone', `GET ${path} HTTP/1.1\n${host.replace('\r', '')}\n`, 2],
    ['a body', `GET ${path} HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nhello`, 2],
  ])('answers a request with %s once, in a form that it understands', async (_what, sent, answers) => {
    const { exchange } = await useProxy();
    const received = await exchange(`${sent}${next}`);
    expect(received.match(/HTTP\/1\.1 \d{3}/g)).toEqual(Array(answers).fill('HTTP/1.1 200'));
  });

  it('limits a client whatever it says of its own address, and another one not', async () => {
    const { status } = await useProxy();
    await expectLimitOfNetwork(status);
  });

  it('is spared a flood of one network', async () => {
    const proxy = await useProxy();
    const before = await countAnswered(proxy.server.registry);
    const flood = 1_500;
    const connections = 3;
    const requests = `GET /healthz HTTP/1.1\r\n${host}\r\n`.repeat(flood / connections);
    const answers = await Promise.all(
      Array.from({ length: connections }, (_, index) =>
        proxy.exchange(`${requests}${next}`, `2001:db8:7:7::${index + 1}`),
      ),
    );
    const limited = answers.join('').match(/HTTP\/1\.1 429/g)?.length ?? 0;
    expect(limited).toBeGreaterThan(0);
    expect(answers.join('')).toMatch(/Retry-After: 1\r\n(?:.+\r\n)*\r\n\{"error":"rate_limited"\}/);
    expect((await countAnswered(proxy.server.registry)) - before).toBeLessThan(flood);
    expect(await proxy.status('2001:db8:7:8::1')).toBe(200);
  });

  it('has a bound of connections that are being answered, of one network and of one site', async () => {
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

  it('says 503 in the words of the contract when it is not there', async () => {
    const server = await startPublicServer();
    const nginx = await startNginx(program ?? '', server.port === 1 ? 2 : 1);
    const response = await new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: nginx.port,
        path,
        ca: nginx.certificate,
        servername: name,
        headers: { Host: name },
        agent: false,
      };
      request(options, async (message) => {
        let body = '';
        for await (const chunk of message) body += chunk;
        resolve({ status: message.statusCode, body });
      })
        .on('error', reject)
        .end();
    });
    expect(response).toEqual({ status: 503, body: '{"error":"database_unavailable"}' });
  });
});
