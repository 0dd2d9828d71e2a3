import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first: begun last, one of them alone would hold up the end of the run. */
const slowest = [
  'endToEnd/replay',
  'endToEnd/faults',
  'endToEnd/chain',
  'streams/indexer',
  'http/chainRoutes',
  'http/eventStream',
  'actors/chain/contracts',
  'endToEnd/twoIngests',
  'storage/storedEvents',
  'endToEnd/readiness',
  'endToEnd/rebuildInterrupted',
  'endToEnd/year',
  'http/events',
  'storage/rowWriter',
  'endToEnd/local',
  'streams/ingestLease',
  'streams/ingestLeaseTwoHolders',
  'endToEnd/ingestBeside',
  'http/rawRequests',
  'streams/messageSource',
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
    // More than the cores of a small machine: many tests wait for what is under way elsewhere.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    // Only what hangs runs into these; a machine that is busy with other work may take many times as long as a quiet one.
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
});
