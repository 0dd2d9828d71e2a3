import { defineConfig } from 'vitest/config';

/** Not part of `npm test`, because it needs servers built with Go, and packages of Python (`npm run interop`). */
export default defineConfig({
  test: {
    include: ['test/interop/*.interop.ts'],
    root: `${import.meta.dirname}/../..`,
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
