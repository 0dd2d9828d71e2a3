import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

/**
 * - `unit`: starts no process, opens no socket and no database;
 * - `parts`: starts what it needs;
 * - `longer`: the same, for what breaks seldom and takes long to show: failures of every kind one after the other, clusters, proxies, programs of the
 *   guides, recipes and doctor, crawls of all pages, and tests of the tests' own reference. `npm run test:all` runs it, and so does every change
 *   before it is merged.
 */
export type TestProject = 'longer' | 'parts' | 'unit';

const longerFiles: ReadonlySet<string> = new Set(
  [
    'deploy/doctorWithoutJetStream',
    'deploy/operate/haproxy',
    'endToEnd/doctor',
    'endToEnd/dryRun',
    'endToEnd/local',
    'endToEnd/natsCluster',
    'endToEnd/outages',
    'endToEnd/twoIngests',
    'explorer/history',
    'explorer/links',
    'explorer/states',
    'http/eventClients',
    'http/fallbackEngine',
    'http/guides',
    'recipes',
    'reference/members',
    'simulation/regressionPlans',
  ].map((name) => `test/${name}.test.ts`),
);

const root = resolve(import.meta.dirname, '../..');
/** Imports of types do not count: they are gone when the test runs. */
const importPattern = /^(?:import|export) (?!type )(?:[^';]*? from )?'([^']+)'/gms;
const startsParts =
  /^(?:storage\/clickhouse\/database\.ts|chdb(?:\/.+)?|test\/support\/processes\/.+|node:(?:child_process|http|http2|https|net|tls))$/;

/** Finds the project of a test file by the list above, or by its imports and by the imports of the test support that it uses. */
export function findTestProject(path: string): TestProject {
  if (longerFiles.has(path)) return 'longer';
  return collectImports(path).some((imported) => startsParts.test(imported)) ? 'parts' : 'unit';
}

/** Collects direct imports, and the imports of test support. Whether a part of the program starts something is up to the test. */
function collectImports(path: string): string[] {
  const collected = new Set([path]);
  for (const file of collected) {
    if (!/^test\/.+\.(?:mjs|tsx?)$/.test(file)) continue;
    for (const imported of readImports(file)) collected.add(imported);
  }
  return [...collected];
}

/** Reads imported files as paths from the root, and packages by name. */
function readImports(path: string): string[] {
  const source = readFileSync(resolve(root, path), 'utf8');
  return [...source.matchAll(importPattern)].map(([, specifier = '']) =>
    specifier.startsWith('.') ? relative(root, resolve(root, dirname(path), specifier)) : specifier,
  );
}
