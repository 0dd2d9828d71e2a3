import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

/**
 * - `unit`: starts no process, opens no socket and no database;
 * - `embedded`: may load the embedded ClickHouse into its own process, which is native, and keeps what it has of one folder from the next;
 * - `parts`: all other tests.
 */
export type TestProject = 'embedded' | 'parts' | 'unit';

type FindImports = (path: string) => readonly string[];

const root = resolve(import.meta.dirname, '../..');
/** Imports of types are none when the test runs. */
const importPattern = /^(?:import|export) (?!type )(?:[^';]*? from )?'([^']+)'/gms;
const opensDatabase = /^(?:storage\/database\.ts|chdb(?:\/.+)?)$/;
const startsParts = /^(?:test\/support\/processes\/.+|node:(?:child_process|http|http2|https|net|tls))$/;

/** The project that a test file belongs to, by what it imports, and by what the files of `test` import that it uses. */
export function findTestProject(path: string, findImports: FindImports = readImports): TestProject {
  const imports = collectImports(path, findImports);
  if (imports.some((imported) => opensDatabase.test(imported))) return 'embedded';
  return imports.some((imported) => startsParts.test(imported)) ? 'parts' : 'unit';
}

/** Of the program a test needs only what it names: whether that starts something is up to the test. */
function collectImports(path: string, findImports: FindImports): string[] {
  const collected = new Set([path]);
  for (const file of collected) {
    if (!/^test\/.+\.(?:mjs|tsx?)$/.test(file)) continue;
    for (const imported of findImports(file)) collected.add(imported);
  }
  return [...collected];
}

/** Files as paths from the root, packages by their names. */
function readImports(path: string): string[] {
  const source = readFileSync(resolve(root, path), 'utf8');
  return [...source.matchAll(importPattern)].map(([, specifier = '']) =>
    specifier.startsWith('.') ? relative(root, resolve(root, dirname(path), specifier)) : specifier,
  );
}
