import { proxiedHost as host, proxiedName as name, proxiedPath as path } from './proxyClients.ts';

/** Requests that two programs may read differently, so the server sees another request than the proxy has checked. */
export const unusualRequests = {
  'two lengths': `GET ${path} HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 90\r\n\r\n`,
  'one length twice': `GET ${path} HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`,
  'a length with a sign': `GET ${path} HTTP/1.1\r\n${host}Content-Length: +0\r\n\r\n`,
  'a length and chunks': `GET ${path} HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'an unknown encoding': `GET ${path} HTTP/1.1\r\n${host}Transfer-Encoding: xchunked\r\n\r\n`,
  'two encodings': `GET ${path} HTTP/1.1\r\n${host}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
  'two hosts': `GET ${path} HTTP/1.1\r\n${host}Host: other.example.org\r\n\r\n`,
  'no host': `GET ${path} HTTP/1.1\r\nX-Other: a\r\n\r\n`,
  'a folded line': `GET ${path} HTTP/1.1\r\n${host}X-Other: a\r\n b\r\n\r\n`,
  // After an empty name the service's parser sees no headers, and would find another request in the body.
  'an empty header name': `GET ${path} HTTP/1.1\r\n${host}: x\r\nContent-Length: 5\r\n\r\nhello`,
  // All of them are valid in a name. The older engine takes letters, digits and hyphens only.
  'odd characters in a header name': `GET ${path} HTTP/1.1\r\n${host}X_1: a\r\nX!#$%&'*+.^\`|~: a\r\n\r\n`,
  'a line without a colon': `GET ${path} HTTP/1.1\r\n${host}broken\r\n\r\n`,
  'lines that end with LF alone': `GET ${path} HTTP/1.1\n${host.replace('\r', '')}\n`,
  'a zero byte': `GET ${path} HTTP/1.1\r\n${host}X-Other: a\0b\r\n\r\n`,
  'HTTP/1.0': `GET ${path} HTTP/1.0\r\n${host}\r\n`,
  'a version that does not exist': `GET ${path} HTTP/9.9\r\n${host}\r\n`,
  'an empty line in front': `\r\nGET ${path} HTTP/1.1\r\n${host}\r\n`,
  'two spaces': `GET  ${path} HTTP/1.1\r\n${host}\r\n`,
  'a target without a slash': `GET ${path.slice(1)} HTTP/1.1\r\n${host}\r\n`,
  'a target in absolute form': `GET http://${name}${path} HTTP/1.1\r\n${host}\r\n`,
  'a body': `GET ${path} HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nhello`,
  'nothing that is HTTP': 'hello\r\n\r\n',
  'headers of 64 KB': `GET ${path} HTTP/1.1\r\n${host}${`X-Other: ${'a'.repeat(1_000)}\r\n`.repeat(64)}\r\n`,
} as const;

export type UnusualRequest = keyof typeof unusualRequests;

/** An ordinary request that closes its connection. */
export const lastRequest = `GET ${path} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;
