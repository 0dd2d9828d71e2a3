import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { findTestProject } from '../support/testProject.ts';

/** Quick tests with a server or a database of their own. */
const usesServer =
  /^test\/(?:explorer\/(?:records|serving)|http\/(?:bodies|caching|chainRoutes|eventClients|events|eventStream|examples|hostile|httpSemantics|listener|observations|openApi|operatorServer|parameters|rateLimits|recordRoutes|refusedBodies|released|statistics|streamOutput)|reference\/(?:measurements|members|world)|storage\/(?:database|migrate|observations|retiredRuns|readingsTtl|storedLookups|storedTables|queriesByHand|tables|runsReader))\./;

/** Tests that read the text of the program, which Stryker has rewritten. */
const readsText = /^test\/(?:imports|readme|http\/routePaths|deploy\/.+)\./;

/** Quick tests, for `npm run mutate`: each mistake is tried by the tests that reach it. */
const files = readdirSync(join(import.meta.dirname, '..'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
  .map((file) => `test/${file}`)
  .filter((file) => (findTestProject(file) === 'unit' && !readsText.test(file)) || usesServer.test(file));

/** Files that take seconds, the slowest last: quicker ones find most mistakes. */
const slow = [
  'actors/chain/spanFold',
  'actors/settlementEquality',
  'actors/stateBounds',
  'streams/chainRewinds',
  'reference/measurements',
  'reference/world',
  'reference/members',
];

class SlowLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) =>
      slow.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
    return [...files].sort((a, b) => rankOf(a) - rankOf(b));
  }
}

export default defineConfig({
  plugins: [
    {
      name: 'processes',
      // Stryker asks for threads, in which the embedded ClickHouse crashes.
      configureVitest: ({ project }) => {
        project.config.pool = 'forks';
      },
    },
  ],
  test: {
    include: files,
    isolate: false,
    setupFiles: ['test/mutation/fixedSeed.ts'],
    sequence: { sequencer: SlowLast },
    runner: 'test/mutation/failingLoads.ts',
    testTimeout: 60_000,
  },
});
