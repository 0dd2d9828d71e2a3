import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { findTestProject } from './test/support/testProject.ts';

/** The unit tests, for `npm run mutate`: each mistake is tried by the tests that reach it. */
const files = readdirSync(join(import.meta.dirname, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `test/${file}`);

export default defineConfig({
  test: {
    include: files.filter((file) => findTestProject(file) === 'unit'),
    isolate: false,
    setupFiles: ['test/support/fixedSeed.ts'],
    pool: 'forks',
    runner: 'test/support/failingLoads.ts',
    testTimeout: 120_000,
  },
});
