import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { routes } from '../../http/routes/routes.ts';
import { comparedPaths } from '../simulation/checks/comparedPaths.ts';

const contract = readFileSync(resolve(import.meta.dirname, '../../http/CONTRACT.md'), 'utf8');

describe('every route of the table', () => {
  it.each(routes.map(({ path }) => path))('%s is described in CONTRACT.md', (path) => {
    expect(contract).toContain(`\`GET ${path}`);
  });

  it.each(routes.map(({ path }) => path))('%s is compared with the reference', (path) => {
    const [before = '', after = ''] = path.split(/\{\w+\}/);
    const isOfRoute = (asked: string) => asked.startsWith(before) && asked.endsWith(after);
    const asked = comparedPaths.map((one) => one.replace(/\?.*/, ''));
    expect(asked.filter(isOfRoute)).not.toEqual([]);
  });
});
