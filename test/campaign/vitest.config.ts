import { defineConfig } from 'vitest/config';

/** The campaign is no part of `npm test`: it runs for as long as it is told to. */
export default defineConfig({
  test: {
    include: ['test/campaign/campaign.run.ts'],
    root: `${import.meta.dirname}/../..`,
    pool: 'forks',
    testTimeout: 24 * 3_600_000,
    hookTimeout: 300_000,
  },
});
