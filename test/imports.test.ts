import { readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Who may import whom: the arrows of ARCHITECTURE.md. Tests may import everything. */
const mayImport: Record<string, readonly string[]> = {
  machines: [],
  actors: ['machines'],
  storage: ['machines', 'actors'],
  streams: ['machines', 'actors', 'storage'],
  http: ['actors/views', 'actors/schemas', 'storage'],
  deploy: ['machines', 'actors', 'storage', 'streams', 'http'],
  benchmarks: ['machines', 'actors', 'storage', 'streams', 'http', 'deploy/local', 'test/support'],
};

const root = resolve(import.meta.dirname, '..');
const importPattern = /(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;

/** What a file imports of ours, as paths from the root. */
function findImports(path: string): string[] {
  const source = readFileSync(resolve(root, path), 'utf8');
  return [...source.matchAll(importPattern)].map(([, specifier = '']) =>
    relative(root, resolve(root, dirname(path), specifier)),
  );
}

function forbiddenImports(path: string, imports: readonly string[]): string[] {
  const folder = path.split('/')[0] as string;
  const allowed = [folder, ...(mayImport[folder] ?? [])];
  // The version of the program is in none of the folders.
  const isAllowed = (imported: string) =>
    allowed.some((one) => imported.startsWith(`${one}/`)) ||
    (folder === 'deploy' && imported === 'package.json');
  return imports.filter((imported) => !isAllowed(imported));
}

function listFiles(folder: string): string[] {
  return readdirSync(resolve(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') || file.endsWith('.mjs'))
    .map((file) => `${folder}/${file}`);
}

describe('imports', () => {
  it.each(Object.keys(mayImport))('of %s go only where they may', (folder) => {
    const forbidden = listFiles(folder).flatMap((path) =>
      forbiddenImports(path, findImports(path)).map((imported) => `${path} imports ${imported}`),
    );
    expect(forbidden).toEqual([]);
  });

  it('are distinguished by the rule itself', () => {
    expect(forbiddenImports('machines/a.ts', ['actors/messages/subjects.ts'])).toHaveLength(1);
    expect(forbiddenImports('http/a.ts', ['actors/wheel/counterActors.ts'])).toHaveLength(1);
    expect(forbiddenImports('http/a.ts', ['actors/views/views.ts', 'http/b.ts'])).toEqual([]);
    expect(forbiddenImports('streams/a.ts', ['deploy/miner.ts'])).toHaveLength(1);
  });

  it('of the top level are the folders of ARCHITECTURE.md', () => {
    const folders = readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
      .map(({ name }) => name)
      .filter((name) => !['node_modules', 'dist', 'data'].includes(name));
    expect(folders.sort()).toEqual([
      'actors',
      'benchmarks',
      'deploy',
      'http',
      'machines',
      'storage',
      'streams',
      'test',
    ]);
  });
});
