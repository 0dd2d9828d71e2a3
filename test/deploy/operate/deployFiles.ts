import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';

export const root = resolve(import.meta.dirname, '../../..');
export const deployDir = join(root, 'deploy');

export function readDeployFile(path: string): string {
  return readFileSync(join(deployDir, path), 'utf8');
}

/** A YAML file of deploy/ with one document. */
export function readYaml<Content>(path: string): Content {
  return parse(readDeployFile(path), { merge: true }) as Content;
}

/** The documents of a YAML file of deploy/. */
export function readYamlDocuments<Content>(path: string): Content[] {
  return parseAllDocuments(readDeployFile(path)).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as Content;
  });
}

/** Files of a folder of deploy/ and those below it, as paths from deploy/. */
export function listDeployFiles(folder: string): string[] {
  return readdirSync(join(deployDir, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(deployDir.length + 1))
    .sort();
}

/** Paths that the operators' port answers, by the source of its server. */
export function operatorPaths(): string[] {
  const source = readFileSync(join(root, 'http/server/operatorServer.ts'), 'utf8');
  return [...source.matchAll(/\bget\('([^']+)'/g)].map(([, path = '']) => path);
}

/** Commands of the command line, by its source. */
export function commandNames(): string[] {
  return [...readDeployFile('miner.ts').matchAll(/\.command\('(\w+)'\)/g)].map(([, name = '']) => name);
}
