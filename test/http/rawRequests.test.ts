import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { detectImplementation, isOldEngine } from '../../http/server/engine/uws.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { shareInFile } from '../support/processes/lifetime.ts';

/** Nothing, or what the parser itself writes before it closes the connection: newer builds also send a page. */
const closed =
  /^(?:HTTP\/1\.1 (?:400 Bad Request|505 HTTP Version Not Supported)\r\n(?:.+\r\n)*\r\n(?:<h1>.+)?)?$/;

const statusLine = /^HTTP\/1\.1 \d{3}/;

/** Sends bytes, each piece in a packet of its own, and collects what comes back until it is `expected`, the peer closes, or nothing came for a while. */
function exchange(
  port: number,
  sent: string | Buffer | readonly string[],
  expected: RegExp,
  quietMs = 60_000,
): Promise<string> {
  return new Promise((done) => {
    let received = '';
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, async () => {
      if (typeof sent === 'string' || Buffer.isBuffer(sent)) return socket.write(sent);
      for (const piece of sent) {
        await new Promise((written) => socket.write(piece, written));
        await new Promise(setImmediate);
      }
      return true;
    });
    const finish = () => {
      socket.destroy();
      done(received);
    };
    let timer = setTimeout(finish, quietMs);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      clearTimeout(timer);
      if (expected.test(received)) finish();
      else timer = setTimeout(finish, quietMs);
    });
    socket.on('error', finish);
    socket.on('close', finish);
  });
}

const sharedServer = shareInFile(() => startPublicServer());

/** Everything that the peer sends until it closes the connection. */
const untilClosed = (port: number, sent: string) => exchange(port, sent, /(?!)/);

describe('requests that no well-behaved client sends', () => {
  it.each([
    ['nothing that is HTTP', 'hello\r\n\r\n'],
    ['a version that does not exist', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'],
    ['a header without a colon', 'GET /v1/status HTTP/1.1\r\nHost: a\r\nbroken\r\n\r\n'],
    ['headers without an end', `GET /v1/status HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20_000)}`],
    ['a path of 100 kB', `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['zero bytes', Buffer.alloc(4_096)],
  ])('%s leave the server serving', async (_what, sent) => {
    const server = await sharedServer();
    // Some of them are not answered at all.
    await exchange(server.port, sent, statusLine, 150);
    expect((await server.get('/v1/status')).status).toBe(200);
  });

  it('answers several requests on one connection in order, HEAD and 304 among them', async () => {
    const server = await sharedServer();
    const get = (path: string, method = 'GET', more = '') =>
      `${method} ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
    const requests = [
      get('/v1/public/telemetry', 'HEAD'),
      get('/v4/public/process', 'GET', 'If-None-Match: *\r\n'),
      get('/nowhere'),
      get('/v1/public/telemetry'),
    ];
    const last = /(?:HTTP\/1\.1 .*){4}\r\n\r\n\{.*\}$/s;
    const received = await exchange(server.port, requests.join(''), last);
    const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
    expect(statuses).toEqual(['200', '304', '404', '200']);
    expect(received.match(/"schemaVersion":1/g)).toHaveLength(1);
  });

  it('gives a path with an encoded slash or dots to no other route', async () => {
    const server = await sharedServer();
    for (const path of ['/v1%2Fstatus', '/v1/../v1/status', '/v1//status', '//v1/status', '/./v1/status']) {
      const received = await exchange(server.port, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`, statusLine);
      expect([path, received.slice(9, 12)]).toEqual([path, '404']);
    }
  });
});

describe('requests that two parsers may read differently', () => {
  const next = 'GET /v1/public/telemetry HTTP/1.1\r\nHost: a\r\n\r\n';
  const attacks: readonly (readonly [what: string, headers: string, body?: string])[] = [
    ['two lengths', 'Host: a\r\nContent-Length: 0\r\nContent-Length: 60\r\n'],
    ['one length twice', 'Host: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n'],
    ['an empty length', 'Host: a\r\nContent-Length:\r\n'],
    ['a length that is a list', 'Host: a\r\nContent-Length: 0, 0\r\n'],
    ['a length with a sign', 'Host: a\r\nContent-Length: +0\r\n'],
    ['a length and chunks', 'Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'],
    ['chunks', 'Host: a\r\nTransfer-Encoding: Chunked\r\n', '3\r\nabc\r\n0\r\nX-Trailer: a\r\n\r\n'],
    ['an unknown encoding', 'Host: a\r\nTransfer-Encoding: xchunked\r\n'],
    ['an encoding that is not applied', 'Host: a\r\nTransfer-Encoding: identity\r\n'],
    ['an empty encoding', 'Host: a\r\nTransfer-Encoding:\r\n'],
    ['two encodings', 'Host: a\r\nTransfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'],
    [
      'an encoding twice',
      'Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
      '0\r\n\r\n',
    ],
    ['two hosts', 'Host: a\r\nHost: b\r\n'],
    ['one host twice', 'Host: a\r\nHost: a\r\n'],
  ];

  it.each(attacks)(
    'end the connection by %s, with nothing answered behind',
    async (_, headers, body = '') => {
      const { port } = await sharedServer();
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
        const sent = `${method} /v1/status HTTP/1.1\r\n${headers}\r\n${body}${next}`;
        expect([method, await untilClosed(port, sent)]).toEqual([method, expect.stringMatching(closed)]);
      }
    },
  );

  it('are not those with a body of one length', async () => {
    const { port } = await sharedServer();
    const first = 'GET /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc';
    const received = await exchange(port, first + next, /"schemaVersion":1/);
    expect(received.match(/HTTP\/1\.1 (?:404|200)/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 200']);
  });
});

describe('requests of other forms', () => {
  const path = '/v1/public/telemetry';
  const statusIn = (received: string) => /^HTTP\/1\.1 (\d{3})/.exec(received)?.[1] ?? 'none';
  const isNative = detectImplementation() === 'native';
  const forms = [
    ['HTTP/1.0', `GET ${path} HTTP/1.0\r\n\r\n`, '200'],
    ['HTTP/1.0 with a host', `GET ${path} HTTP/1.0\r\nHost: a\r\n\r\n`, '200'],
    ['a target in absolute form', `GET http://a${path} HTTP/1.1\r\nHost: a\r\n\r\n`, '200'],
    ['one with a query', `GET HTTP://a:80${path}?a=1 HTTP/1.1\r\nHost: a\r\n\r\n`, '200'],
    ['no host', `GET ${path} HTTP/1.1\r\nX-Other: a\r\n\r\n`, '400'],
    ['an empty line in front', `\r\nGET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`, '200'],
    ['two spaces', `GET  ${path} HTTP/1.1\r\nHost: a\r\n\r\n`, '200'],
    ['a target without a slash', `GET ${path.slice(1)} HTTP/1.1\r\nHost: a\r\n\r\n`, '400'],
    ['another version', `GET ${path} HTTP/1.2\r\nHost: a\r\n\r\n`, '400'],
  ] as const;

  const oddNames = [..."!#$%&'*+.^_`|~"].map((character) => `X${character}1`);
  const named = (name: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n${name}: a\r\n\r\n`;

  // `fallbackEngine.test.ts` runs these tests with the other implementation.
  if (isNative)
    it('are not understood by the native server, nor odd header names by its older engine: it closes the connection', async () => {
      const server = await startPublicServer();
      const sent = [...forms.map(([, text]) => text), ...(isOldEngine ? oddNames.map(named) : [])];
      // Nothing of them is taken for the beginning of another request. It closes after ten seconds, so all wait at once.
      const received = await Promise.all(sent.map((text) => untilClosed(server.port, text)));
      expect(received).toEqual(sent.map(() => expect.stringMatching(closed)));
      expect(await server.registry.metrics()).not.toMatch(/miner_http_requests_total\{/);
      expect((await server.get(path)).status).toBe(200);
    });
  else
    it.each(forms)('%s are answered by the fallback', async (_what, sent, status) => {
      const server = await sharedServer();
      expect(statusIn(await exchange(server.port, sent, statusLine))).toBe(status);
    });

  if (!isOldEngine)
    it.each(oddNames)('are answered with a header named %s', async (name) => {
      const { port } = await sharedServer();
      expect(statusIn(await exchange(port, named(name), statusLine))).toBe('200');
    });

  it('a request in two pieces is one, wherever it is cut', async () => {
    const server = await sharedServer();
    const sent = `GET ${path} HTTP/1.1\r\nHost: a\r\nX-Request-Id: in-pieces-1\r\n\r\n`;
    const cuts = Array.from({ length: sent.length - 1 }, (_, index) => index + 1);
    const whole = /\r\nX-Request-Id: in-pieces-1\r\n/i;
    const received = await Promise.all(
      cuts.map(async (cut) =>
        statusIn(await exchange(server.port, [sent.slice(0, cut), sent.slice(cut)], whole)),
      ),
    );
    expect(received).toEqual(cuts.map(() => '200'));
  });

  it('a request with an empty host is answered', async () => {
    const server = await sharedServer();
    const received = await exchange(server.port, `GET ${path} HTTP/1.1\r\nHost:\r\n\r\n`, statusLine);
    expect(statusIn(received)).toBe('200');
  });
});
