import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parse } from 'yaml';

export const root = resolve(import.meta.dirname, '../../..');
export const deployDir = join(root, 'deploy');

export function readDeployFile(path: string): string {
  return readFileSync(join(deployDir, path), 'utf8');
}

/** A YAML file of deploy/ with one document. */
export function readYaml<Content>(path: string): Content {
  return parse(readDeployFile(path), { merge: true }) as Content;
}

/** Paths that the operators' port answers, by the source of its server. */
export function operatorPaths(): string[] {
  const source = readFileSync(join(root, 'http/server/operatorServer.ts'), 'utf8');
  return [...source.matchAll(/\bget\(\s*'([^']+)'/g)].map(([, path = '']) => path);
}

/** Commands of the command line, by its source. */
export function commandNames(): string[] {
  return [...readDeployFile('miner.ts').matchAll(/\.command\('([\w-]+)'\)/g)].map(([, name = '']) => name);
}

/** Instructions of the Containerfile, one in each line. */
export const containerInstructions = readDeployFile('Containerfile')
  .replace(/\\\n/g, ' ')
  .split('\n')
  .filter((line) => /^[A-Z]+ /.test(line));

/** Files and folders that the image's build copies from the repository. */
export const copiedPaths = containerInstructions
  .filter((line) => line.startsWith('COPY') && !line.includes('--from'))
  .flatMap((line) => line.split(' ').slice(1, -1));

/** Whether an ignore file leaves out a path of the repository, by its lines that begin with `deploy/`. */
export function isIgnored(path: string, ignoreFile = 'deploy/Containerfile.dockerignore'): boolean {
  const lines = readFileSync(join(root, ignoreFile), 'utf8').split('\n');
  const patterns = lines.filter((line) => line.startsWith('deploy/')).map((line) => line.replace(/\/$/, ''));
  const isMatch = (pattern: string) =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}(/|$)`).test(relative(root, path));
  return patterns.some(isMatch);
}
