// `npm run mutate -- FOLDER...`: Stryker changes the program in one place at a time, and lists the changes that no unit test notices. A path
// may be a folder or a file. The report is `data/mutation/report.html`; the next run tries again only what has changed.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const everything = ['actors', 'machines', 'storage', 'streams/operators', 'http'];

const [first = '', ...rest] = process.argv.slice(2);
if (first === '' || first.startsWith('-')) {
  console.error(`usage: npm run mutate -- all | FOLDER or FILE...\n"all" is: ${everything.join(' ')}`);
  process.exit(2);
}
const paths = first === 'all' ? everything : [first, ...rest];
const patterns = paths.map((path) => {
  if (!statSync(join(root, path), { throwIfNoEntry: false })) {
    console.error(`${path}: no such folder or file`);
    process.exit(2);
  }
  return path.endsWith('.ts') ? path : `${path.replace(/\/$/, '')}/**/*.ts`;
});
// Machines are computed while their module loads. Elsewhere, load-time code is tables and texts, and each mutation costs a whole run.
const ignoresStatic = !paths.every((path) => path.startsWith('machines'));
const { status } = spawnSync(
  join(root, 'node_modules', '.bin', 'stryker'),
  [
    'run',
    '--mutate',
    patterns.join(','),
    '--incrementalFile',
    `data/mutation/${paths.join('-').replaceAll('/', '.')}.json`,
    ...(ignoresStatic ? ['--ignoreStatic'] : []),
  ],
  { cwd: root, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
