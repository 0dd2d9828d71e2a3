import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first: begun last, one of them alone would hold up the end of the run. */
const slowest = [
  'endToEnd/replay',
  'endToEnd/faults',
  'endToEnd/year',
  'endToEnd/twoIngests',
  'http/chainRoutes',
  'actors/chain/contracts',
  'endToEnd/chain',
  'streams/indexer',
  'endToEnd/readiness',
  'streams/ingestLease',
  'endToEnd/local',
  'http/events',
  'http/eventStream',
];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = slowest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return rank === -1 ? slowest.length : rank;
    };
    return [...files].sort((a, b) => rankOf(a) - rankOf(b));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // One process a file: the embedded ClickHouse and uWebSockets.js are native, and a test may kill its own.
    pool: 'forks',
    // One more than the cores of a small machine: many tests wait for what is under way elsewhere.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    // Only what hangs runs into these; a machine that is busy with other work may take many times as long as a quiet one.
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
