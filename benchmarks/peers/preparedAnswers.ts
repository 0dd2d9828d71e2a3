import { readFileSync } from 'node:fs';

/** An answer of a peer: the service's own answer to the same request. */
export interface PreparedAnswer {
  readonly path: string;
  /** `Accept-Encoding` of the request; `identity` without one. */
  readonly encoding: string;
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Null if the client already has it: `If-None-Match` fits the tag. */
  readonly body: string | null;
}

export interface LoadedAnswer {
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** The answers of a path, with the headers of the answer without a body. */
export interface PreparedPath {
  readonly tag: string | null;
  readonly notModified: LoadedAnswer['headers'];
  readonly byEncoding: ReadonlyMap<string, LoadedAnswer>;
}

/** Reads a file of {@link PreparedAnswer}s. */
export function readPaths(file: string): ReadonlyMap<string, PreparedPath> {
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
