import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { routes } from '../../http/routes/routes.ts';
import { comparedPaths } from '../simulation/checks/comparedPaths.ts';

/** Not in the table: a response that does not end. */
const streamPath = '/v1/events/stream';

function matches(template: string, path: string): boolean {
  const pattern = template.replaceAll(/\{\w+\}/g, '[^/]+');
  return new RegExp(`^${pattern}(?:\\?|$)`).test(path);
}

describe('the table of routes', () => {
  it('has every path that a benchmark or the explorer asks for', () => {
    const files = ['benchmarks', 'http/explorer'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.tsx?$/.test(file))
        .map((file) => join(folder, file)),
    );
    const named = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/['`](\/v\d\/[^'`$]*)['`]/g)].map(([, path = '']) => ({
        file,
        path,
      })),
    );
    expect(named.length).toBeGreaterThan(10);
    const templates = [streamPath, ...routes.map(({ path }) => path)];
    expect(named.filter(({ path }) => !templates.some((template) => matches(template, path)))).toEqual([]);
  });

  it('is compared with the reference', () => {
    const left = routes.filter(({ path }) => !comparedPaths.some((one) => matches(path, one)));
    expect(left.map(({ path }) => path)).toEqual([]);
  });
});
