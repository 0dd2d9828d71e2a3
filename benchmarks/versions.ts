import { createRequire } from 'node:module';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** A package of this project with its version, as results name it. */
export function withVersion(packageName: string, label = packageName): string {
  const manifest = createRequire(import.meta.url)('../../package.json') as Manifest;
  const pinned = manifest.dependencies[packageName] ?? manifest.devDependencies[packageName];
  if (pinned === undefined) throw new Error(`${packageName} is no package of this project`);
  // An alias names another package before the version.
  return `${label} ${pinned.split('@').at(-1)}`;
}
