// `npm run release -- VERSION`: writes the version, the changelog and the released contract. CONTRIBUTING.md has the steps before and after.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { interfaceVersion } from '../../http/server/pages/documents.ts';
import { toContract, writeContract } from './contract.ts';
import { releaseChangelog, requireNewer } from './releaseChangelog.ts';

/** The bundle is in `dist/tools`. */
const root = resolve(import.meta.dirname, '../..');
const [version = ''] = process.argv.slice(2);
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const write = (path: string, text: string) => writeFileSync(join(root, path), text);

const { version: last } = JSON.parse(read('package.json')) as { version: string };
requireNewer(last, version);
const changelog = releaseChangelog(read('CHANGELOG.md'), version, new Date().toISOString().slice(0, 10));
for (const [path, name] of [
  ['package.json', 'mining-activity-read-service'],
  ['package-lock.json', 'mining-activity-read-service'],
  ['http/client/package.json', 'mining-activity-client'],
] as const)
  write(path, read(path).replaceAll(findVersion(name), `$1${version}`));
write('CHANGELOG.md', changelog);
write('deploy/release/released.json', writeContract(toContract(createOpenApiDocument(interfaceVersion))));

/** Matches the version after a package's name, which the lock file has twice. */
function findVersion(name: string): RegExp {
  return new RegExp(`("name": "${name}",\\s+"version": ")${last.replaceAll('.', '\\.')}(?=")`, 'g');
}
