import { expect } from 'vitest';
import { createOpenApiDocument } from '../../../http/routes/documentation/openApi.ts';
import type { ErrorCode } from '../../../http/routes/errors.ts';

const { paths } = JSON.parse(JSON.stringify(createOpenApiDocument())) as {
  paths: Record<string, { get: { responses: Record<string, DocumentedErrors> } }>;
};

interface DocumentedErrors {
  readonly content: { readonly 'application/json': { readonly examples: Record<string, unknown> } };
}

/** The codes that the OpenAPI document names for a status of a route; null for a path without a route. */
function listDocumented(url: string, status: number): string[] | null {
  const { pathname } = new URL(url);
  const asPattern = (path: string) => new RegExp(`^${path.replaceAll(/\{.*?\}/g, '[^/]+')}$`);
  const found = Object.keys(paths).find((path) => asPattern(path).test(pathname));
  const errors = found === undefined ? null : paths[found]?.get.responses[status];
  return errors === null ? null : Object.keys(errors?.content['application/json'].examples ?? {});
}

/** Fails unless a response is the error, with the headers of every error. `asked` names the request if the test fails. */
export async function expectErrorAnswer(
  response: Response,
  status: number,
  error: ErrorCode,
  asked = response.url,
) {
  expect([asked, response.status, await response.json()]).toEqual([asked, status, { error }]);
  const { headers } = response;
  expect([asked, headers.get('cache-control')]).toEqual([asked, 'no-store']);
  expect(headers.get('link')).toBe(`</docs/errors#${error}>; rel="help"`);
  expect(headers.get('x-request-id')).toBeTruthy();
}

/** The same for an answer to GET, whose errors the OpenAPI document names if it has the route. */
export async function expectError(...expected: Parameters<typeof expectErrorAnswer>) {
  const [{ url }, status, error] = expected;
  await expectErrorAnswer(...expected);
  const documented = listDocumented(url, status);
  if (documented !== null) expect(documented).toContain(error);
}
