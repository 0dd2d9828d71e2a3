import { readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** Allowed imports by folder: the arrows of ARCHITECTURE.md. Tests may import everything. */
const mayImport: Record<string, readonly string[]> = {
  machines: [],
  actors: ['machines'],
  storage: ['machines', 'actors'],
  streams: ['machines', 'actors', 'storage'],
  http: ['actors'],
  deploy: ['machines', 'actors', 'storage', 'streams', 'http'],
  benchmarks: [
    'machines',
    'actors',
    'storage',
    'streams',
    'http',
    'deploy/local',
    'deploy/process',
    'test/support',
  ],
};

const root = resolve(import.meta.dirname, '..');
const importPattern = /(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g;
const exportPattern =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|function\*?|class|interface|type) ([\w$]+)/gm;

/** Files of the repository that a file imports, as paths from the root. */
function findImports(path: string): string[] {
  const source = readFileSync(resolve(root, path), 'utf8');
  return [...source.matchAll(importPattern)].map(([, specifier = '']) =>
    relative(root, resolve(root, dirname(path), specifier)),
  );
}

function forbiddenImports(path: string, imports: readonly string[]): string[] {
  const folder = path.split('/')[0] as string;
  const allowed = [folder, ...(mayImport[folder] ?? [])];
  // HTTP reads views, never the actors that fold, and routes know no page. The version of the program is outside the folders.
  const isAllowed = (imported: string) =>
    allowed.some((one) => imported.startsWith(`${one}/`))
      ? !(folder === 'http' && /Actors?\.ts$/.test(imported)) &&
        !(/^http\/(?:addresses|routes|responses)\//.test(path) && imported.startsWith('http/explorer/'))
      : folder === 'deploy' && imported === 'package.json';
  return imports.filter((imported) => !isAllowed(imported));
}

function listFiles(folder: string): string[] {
  return readdirSync(resolve(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(?!.*node_modules).*\.(?:tsx?|mjs)$/.test(file))
    .map((file) => `${folder}/${file}`);
}

/** A circle of imports; null without one. */
function findCycle(importsOf: ReadonlyMap<string, readonly string[]>): string[] | null {
  const finished = new Set<string>();
  const walk = (path: string, way: readonly string[]): string[] | null => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (finished.has(path)) return null;
    for (const imported of importsOf.get(path) ?? []) {
      const cycle = walk(imported, [...way, path]);
      if (cycle !== null) return cycle;
    }
    finished.add(path);
    return null;
  };
  for (const path of importsOf.keys()) {
    const cycle = walk(path, []);
    if (cycle !== null) return cycle;
  }
  return null;
}

describe('imports', () => {
  it.each(Object.keys(mayImport))('go only where they may in %s', (folder) => {
    const forbidden = listFiles(folder).flatMap((path) =>
      forbiddenImports(path, findImports(path)).map((imported) => `${path} imports ${imported}`),
    );
    expect(forbidden).toEqual([]);
  });

  it('are distinguished by the rule itself', () => {
    expect(forbiddenImports('machines/a.ts', ['actors/messages/subjects.ts'])).toHaveLength(1);
    expect(forbiddenImports('http/a.ts', ['actors/wheel/counterActors.ts'])).toHaveLength(1);
    expect(forbiddenImports('http/routes/a.ts', ['http/explorer/a.ts'])).toHaveLength(1);
    expect(forbiddenImports('http/a.ts', ['actors/views/views.ts', 'http/b.ts'])).toEqual([]);
    expect(forbiddenImports('streams/a.ts', ['deploy/miner.ts'])).toHaveLength(1);
  });

  it('reach the client of NATS only behind the port', () => {
    const users = ['actors', 'machines', 'storage', 'streams', 'http', 'deploy']
      .flatMap(listFiles)
      // A guide shows how to publish by the client alone.
      .filter((path) => !path.startsWith('streams/nats/') && !path.startsWith('http/guides/'))
      .filter((path) => /'@nats-io\//.test(readFileSync(resolve(root, path), 'utf8')));
    expect(users).toEqual([]);
  });

  it('never form a circle of files, types included', () => {
    const files = Object.keys(mayImport).flatMap(listFiles);
    expect(findCycle(new Map(files.map((path) => [path, findImports(path)])))).toBeNull();
    const circle = { a: ['b', 'c'], b: ['d'], c: [], d: ['c', 'b'] };
    expect(findCycle(new Map(Object.entries(circle)))).toEqual(['b', 'd', 'b']);
  });

  it.each(['actors', 'storage', 'streams', 'http/responses', 'http/routes', 'http/server', 'deploy'])(
    'go down only between folders in %s',
    (room) => {
      const importsOf = new Map<string, string[]>();
      for (const path of listFiles(room)) {
        const folder = dirname(path);
        const others = findImports(path).map((imported) => dirname(imported));
        importsOf.set(folder, [...(importsOf.get(folder) ?? []), ...others.filter((one) => one !== folder)]);
      }
      expect(findCycle(importsOf)).toBeNull();
    },
  );

  it('are the only way to SQL from outside of storage', () => {
    const statement = /['"`]\s*(?:SELECT|INSERT INTO|ALTER TABLE|CREATE TABLE)\b/;
    const hasSql = (path: string) => statement.test(readFileSync(resolve(root, path), 'utf8'));
    const rooms = ['machines', 'actors', 'streams', 'http', 'deploy'];
    expect(rooms.flatMap(listFiles).filter(hasSql)).toEqual([]);
    expect(hasSql('storage/clickhouse/systemTables.ts')).toBe(true);
  });

  it('stay within the reference and viem', () => {
    const files = listFiles('test/reference').filter((path) => !path.endsWith('.test.ts'));
    const imports = files.flatMap((path) => {
      const source = readFileSync(resolve(root, path), 'utf8');
      return [...source.matchAll(/^(import type|import|export)[^;]*? from '([^']+)';$/gms)].map(
        ([, kind, from]) => `${path}: ${kind} ${from}`,
      );
    });
    expect(imports.length).toBeGreaterThan(10);
    const isItsOwn = (line: string) => / (?:\.\/\w+\.ts|viem)$/.test(line);
    expect(imports.filter((line) => !isItsOwn(line))).toEqual([]);
  });

  it('take every export: what only its own file names is not exported', () => {
    const files = [...Object.keys(mayImport), 'test'].flatMap(listFiles).concat('vitest.config.ts');
    const filesOf = new Map<string, Set<string>>();
    const exported: (readonly [path: string, name: string])[] = [];
    for (const path of files) {
      const source = readFileSync(resolve(root, path), 'utf8');
      for (const [name] of source.matchAll(/[\w$]+/g))
        filesOf.set(name, (filesOf.get(name) ?? new Set()).add(path));
      // They replace modules that the program imports by the same names.
      if (path.startsWith('test/simulation/substitutes/')) continue;
      for (const [, name = ''] of source.matchAll(exportPattern)) exported.push([path, name]);
    }
    expect(exported.length).toBeGreaterThan(1_000);
    expect(exported.filter(([, name]) => (filesOf.get(name)?.size ?? 0) < 2)).toEqual([]);
  });

  it('have the top-level folders of ARCHITECTURE.md', () => {
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
