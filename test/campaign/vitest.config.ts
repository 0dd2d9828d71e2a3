import { defineConfig } from 'vitest/config';

/** The campaign is not part of `npm test`, since it runs for as long as `--minutes` says. */
export default defineConfig({
  test: {
    include: ['test/campaign/campaign.run.ts'],
    root: `${import.meta.dirname}/../..`,
    pool: 'forks',
    testTimeout: 24 * 3_600_000,
    hookTimeout: 300_000,
  },
});
