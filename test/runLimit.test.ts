import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from './support/processes/lifetime.ts';

const root = resolve(import.meta.dirname, '..');

it('a run that hangs ends with the names of the tests that hang', () => {
  const folder = temporaryDirectory();
  const vitest = join(root, 'node_modules/vitest/dist/index.js');
  writeFileSync(
    join(folder, 'hanging.test.mjs'),
    `import { it } from '${vitest}'; it('hangs', () => new Promise(() => {})); it('waits behind it', () => {});`,
  );
  writeFileSync(
    join(folder, 'vitest.config.mts'),
    `import { createRunLimit } from '${join(root, 'test/support/runLimit.ts')}';
     export default { test: { reporters: [createRunLimit(0.1)], testTimeout: 600_000, teardownTimeout: 1 } };`,
  );
  const { status, stderr } = spawnSync(join(root, 'node_modules/.bin/vitest'), ['run', '--root', folder], {
    encoding: 'utf8',
  });
  expect([status, stderr.match(/^ {2}.+$/gm)]).toEqual([1, ['  hanging.test.mjs > hangs']]);
});
