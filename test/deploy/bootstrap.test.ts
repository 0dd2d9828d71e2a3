import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const root = join(import.meta.dirname, '../..');

/** Like npm, takes a folder that is there for a complete package. Within the installation it runs the file `interruption`. */
const npm = `#!/bin/sh
if mkdir node_modules/some-package; then
  test ! -e interruption || . ./interruption
  touch node_modules/some-package/index.js
fi
`;

/** A checkout without installed packages. Its npm needs no network. */
function createCheckout() {
  const cwd = temporaryDirectory();
  for (const path of ['deploy/build', 'deploy/engines', 'package.json', 'package-lock.json'])
    cpSync(join(root, path), join(cwd, path), { recursive: true });
  mkdirSync(join(cwd, 'bin'));
  writeFileSync(join(cwd, 'bin/npm'), npm, { mode: 0o755 });
  const PATH = [join(cwd, 'bin'), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH, MINER_NATS_URL: 'nats://127.0.0.1:1' };
  return {
    interruption: join(cwd, 'interruption'),
    start: () => spawnSync(process.execPath, ['deploy/build/bootstrap.mjs', 'start'], { cwd, env }).status,
    listPackage: () => readdirSync(join(cwd, 'node_modules/some-package')),
  };
}

it.each([
  ['npm is killed', 'kill -9 $$'],
  ['npm and the start are killed', 'kill -9 $PPID $$'],
])('a start installs everything again after one during which %s', (_, interrupt) => {
  const { interruption, start, listPackage } = createCheckout();
  writeFileSync(interruption, interrupt);
  expect(start()).not.toBe(0);
  expect(listPackage()).toEqual([]);
  rmSync(interruption);
  expect(start()).toBe(0);
  expect(listPackage()).toEqual(['index.js']);
});
