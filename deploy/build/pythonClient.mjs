// `npm run client:python`: generates the Python client from the OpenAPI document, and packs it. Needs Python 3.11 and its package registry.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'dist/python');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const run = (command, ...args) => execFileSync(command, args, { cwd: folder, maxBuffer: 2 ** 28 });

rmSync(folder, { recursive: true, force: true });
cpSync(join(root, 'http/client/python'), folder, { recursive: true });
const project = join(folder, 'pyproject.toml');
writeFileSync(project, readFileSync(project, 'utf8').replace('"0.0.0"', `"${version}"`));
writeFileSync(
  join(folder, 'openapi.json'),
  run(process.execPath, join(root, 'dist/deploy/miner.js'), 'openapi'),
);
run('python3', '-m', 'venv', 'tools');
run('tools/bin/pip', 'install', '--quiet', 'openapi-python-client==0.29.1');
const output = ['--output-path', 'mining_activity_read_service_client', '--meta', 'none'];
run('tools/bin/openapi-python-client', 'generate', '--path', 'openapi.json', ...output);
run('tools/bin/pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', '../package', '.');
console.log(`dist/package has mining_activity-${version}-py3-none-any.whl`);
