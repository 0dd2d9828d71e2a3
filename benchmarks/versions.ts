import { createRequire } from 'node:module';

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** The HTTP engines are dependencies of workspaces. */
const manifestPaths = [
  'package.json',
  'deploy/engines/legacy/package.json',
  'deploy/engines/modern/package.json',
];

/** Names a package of this project with its version, for results. */
export function withVersion(packageName: string, label = packageName): string {
  const require = createRequire(import.meta.url);
  const pinned = manifestPaths
    .map((path) => require(`../../${path}`) as Manifest)
    .map(({ dependencies, devDependencies }) => dependencies[packageName] ?? devDependencies?.[packageName])
    .find((version) => version !== undefined);
  if (pinned === undefined) throw new Error(`${packageName} is no package of this project`);
  // An alias names another package before the version.
  return `${label} ${pinned.split('@').at(-1)}`;
}
