import { readFileSync } from 'node:fs';
import { App } from '../http/server/engine/uws.ts';
import type { PreparedAnswer } from './pollingCases.ts';

interface LoadedAnswer {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** The answers of a path, with the headers of the answer without a body. */
interface PreparedPath {
  readonly tag: string | null;
  readonly notModified: LoadedAnswer['headers'];
  readonly byEncoding: ReadonlyMap<string, LoadedAnswer>;
}

/** The upper limit: uWebSockets.js with a handler that only sends the bytes. Arguments: the file of the answers, and the port. */
const [file = '', port] = process.argv.slice(2);
const paths = readPaths(file);
const app = App();

for (const [path, { tag, notModified, byEncoding }] of paths) {
  app.get(path.split('?', 1)[0] as string, (response, request) => {
    const isKnown = tag !== null && request.getHeader('if-none-match') === tag;
    const encoding = request.getHeader('accept-encoding') || 'identity';
    const answer = byEncoding.get(encoding) as LoadedAnswer;
    response.cork(() => {
      response.writeStatus(isKnown ? '304 Not Modified' : '200 OK');
      for (const [name, value] of isKnown ? notModified : answer.headers) response.writeHeader(name, value);
      if (isKnown) response.endWithoutBody();
      else response.end(answer.body);
    });
  });
}
app.listen('127.0.0.1', Number(port), (socket) => {
  if (socket === false) throw new Error(`port ${port} is taken`);
});

/** Reads a file of {@link PreparedAnswer}s. */
function readPaths(file: string): ReadonlyMap<string, PreparedPath> {
  const answers = JSON.parse(readFileSync(file, 'utf8')) as PreparedAnswer[];
  const paths = [...new Set(answers.map(({ path }) => path))];
  return new Map(
    paths.map((path) => {
      const ofPath = answers.filter((answer) => answer.path === path);
      const bodies = ofPath.flatMap(({ body, encoding, headers }) =>
        body === null ? [] : [[encoding, { headers, body: Buffer.from(body, 'base64') }] as const],
      );
      const tag = ofPath.flatMap(({ headers }) => headers).find(([name]) => name === 'etag')?.[1] ?? null;
      const notModified = ofPath.find(({ body }) => body === null)?.headers ?? [];
      return [path, { tag, notModified, byEncoding: new Map(bodies) }];
    }),
  );
}
