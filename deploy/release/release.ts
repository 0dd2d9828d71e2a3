// `npm run release -- VERSION`: writes the version, the changelog, the released contract, then builds what a release publishes into
// `data/release/VERSION`. CONTRIBUTING.md has the steps before and after.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
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
const images = new RegExp(`(miner:|newTag: )${last.replaceAll('.', '\\.')}(?![.\\d])`, 'g');
for (const path of [
  'deploy/compose.yaml',
  'deploy/kubernetes/example/kustomization.yaml',
  'deploy/RUNNING.md',
])
  write(path, read(path).replaceAll(images, `$1${version}`));
write('CHANGELOG.md', changelog);
write('deploy/release/released.json', writeContract(toContract(createOpenApiDocument())));

// Built again, since the client, the document and the list of packages carry the version.
const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28 });
run('npm', 'run', 'build');
const folder = join(root, 'data/release', version);
mkdirSync(folder, { recursive: true });
copyFileSync(join(root, 'dist/package/client.tgz'), join(folder, `mining-activity-client-${version}.tgz`));
writeFileSync(join(folder, 'openapi.json'), run(process.execPath, 'dist/deploy/miner.js', 'openapi'));
writeFileSync(join(folder, 'sbom.cdx.json'), run(process.execPath, 'deploy/build/printSbom.mjs'));
const sums = readdirSync(folder)
  .filter((name) => name !== 'SHA256SUMS')
  .map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`);
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
process.stdout.write(`version ${version} is written; ${folder} has what it publishes\n`);

function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Matches the version after a package's name, which the lock file has twice. */
function findVersion(name: string): RegExp {
  return new RegExp(`("name": "${name}",\\s+"version": ")${last.replaceAll('.', '\\.')}(?=")`, 'g');
}
