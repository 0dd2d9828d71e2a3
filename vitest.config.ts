import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { createRunLimit } from './test/support/runLimit.ts';
import { findTestProject, type TestProject } from './test/support/testProject.ts';

/** Files that take longest, the longest first: started last, one of them alone would hold up the end of the run. */
const slowest = [
  'simulation/regressionPlans',
  'explorer/views',
  'explorer/states',
  'endToEnd/replay',
  'explorer/freshness',
  'endToEnd/dryRun',
  'endToEnd/chain',
  'reference/members',
  'endToEnd/local',
  'http/guides',
  'http/fallbackEngine',
  'endToEnd/twoIngests',
  'endToEnd/nodeConnection',
  'deploy/operate/haproxy',
  'endToEnd/outages',
  'endToEnd/natsCluster',
  'explorer/history',
  'streams/rejectionLog',
  'streams/messageSource',
  'endToEnd/doctor',
  'storage/storedEvents',
  'explorer/access',
  'recipes',
  'simulation/simulation',
  'deploy/startUp',
  'streams/nodeTransport',
  'streams/writtenLineage',
  'storage/database',
  'streams/rowWriter',
  'endToEnd/processMetrics',
  'streams/ingestLease',
];

const testFiles = readdirSync(join(import.meta.dirname, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
  .map((file) => `test/${file}`);

/** The test files of a project: each belongs to one, by what it imports. */
const listFiles = (project: TestProject) => testFiles.filter((file) => findTestProject(file) === project);

/** In this order, so that a process that is shared goes from one file to the next of its project. */
const projectNames: readonly string[] = ['longer', 'parts', 'unit'] satisfies TestProject[];

const buildProgram = 'test/support/processes/buildProgram.ts';

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId, project }: TestSpecification) => {
      const rank = slowest.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      const rankOfFile = rank === -1 ? slowest.length : rank;
      return projectNames.indexOf(project.name) * (slowest.length + 1) + rankOfFile;
    };
    return [...files].sort((a, b) => rankOf(a) - rankOf(b));
  }
}

/** No machine needs this long for all tests. */
const limitMinutes = 60;
/** A file for the results, as JSON; undefined for none. */
const outputFile = process.env.MINER_TEST_REPORT;

export default defineConfig({
  test: {
    reporters: ['default', ...(outputFile === undefined ? [] : ['json']), createRunLimit(limitMinutes)],
    ...(outputFile !== undefined && { outputFile }),
    setupFiles: ['test/support/endingProperties.ts', 'test/support/foreignZone.ts'],
    // More than the cores of a small machine: many tests wait for what another process does.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    // Only what hangs runs into these: each wait of a test ends within a minute, but a busy machine may take several for all of a test.
    testTimeout: 180_000,
    hookTimeout: 60_000,
    pool: 'forks',
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: listFiles('unit'), isolate: false, testTimeout: 60_000 },
      },
      ...(['parts', 'longer'] as const).map((name) => ({
        extends: true as const,
        test: {
          name,
          include: listFiles(name),
          // A module that one file has loaded stays loaded for the next.
          isolate: false,
          globalSetup: buildProgram,
        },
      })),
    ],
  },
});
