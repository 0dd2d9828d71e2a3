import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, the longest first: started last, one of them alone would hold up the end of the run. */
const slowest = [
  'endToEnd/replay',
  'endToEnd/faults',
  'compareBodies',
  'endToEnd/chain',
  'explorer/views',
  'explorer/states',
  'streams/indexer',
  'http/eventStream',
  'storage/storedEvents',
  'storage/migrations',
  'http/chainRoutes',
  'endToEnd/twoIngests',
  'endToEnd/rebuildInterrupted',
  'endToEnd/readiness',
  'actors/chain/contracts',
  'http/rawRequests',
  'deploy/contracts',
  'endToEnd/local',
  'streams/rowWriter',
  'http/events',
  'streams/ingestLease',
  'streams/ingestLeaseTwoHolders',
  'streams/messageSource',
  'endToEnd/standbyIngest',
  'endToEnd/year',
];

/** Tests of functions alone, which start no process, open no socket and no database. */
const unitTests = [
  'test/{imports,limits,readme}.test.ts',
  'test/machines/**/*.test.ts',
  'test/streams/operators/**/*.test.ts',
  'test/actors/{acceptance,roundFold,cacheView,compileCheck,decode,decodeBombs,expectedSums,firstMatch,foldIdentity,foldRecord,hex,lateDuplicates,parseTimestampMs,settlementActors,readingText,rangeFold,rememberedIds,stateBounds,statePage}.test.ts',
  'test/actors/{settlementActor,settlementEquality}.test.ts',
  'test/actors/chain/{spanFold,collectOwners,convertChainRecords,decodeLog,governance,linkSpan,metadataViews,pastOwners,settlementRows,settlementViews,stateViews}.test.ts',
  'test/actors/feed/**/*.test.ts',
  'test/actors/statistics/**/*.test.ts',
  'test/streams/{actorOwner,actorTransitions,chainConditionWatch,chainRewinds,connection,mapConcurrently,pullSizing,ranges}.test.ts',
  'test/storage/{pollUntil,rowText}.test.ts',
  'test/http/{catchUp,httpMetrics,ifNoneMatch,isoTime,memoize,openApiDescriptions,scalars,uwsBuild}.test.ts',
  'test/deploy/{contractKept,progress,simulatedWheel}.test.ts',
];

/** Tests that load the embedded ClickHouse into their own process: it is native, and keeps what it has of one folder from the next. */
const embeddedDatabaseTests = [
  'test/endToEnd/{doctor,faults,standbyIngest,purgedTail,readings,rebuildInterrupted,replay,twoIngests}.test.ts',
  'test/http/eventStream.test.ts',
  'test/simulation/conformance/clickHouse.test.ts',
  'test/storage/**/*.test.ts',
  'test/streams/{chainFold,counterFold,ownerActivity,streamFollower,streamFollowerReplaced,yearLater}.test.ts',
  'test/streams/{ingestLeaseTwoHolders,readerBeforeMigration,rebuildGeneration,restoreInterrupted,rowWriter,storedReadings}.test.ts',
];

/** In this order, so that a process that is shared goes from one file to the next of its project. */
const projectNames = ['embedded', 'parts', 'unit'];

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

export default defineConfig({
  test: {
    // More than the cores of a small machine: many tests wait for what another process does.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    // Only what hangs runs into these; a machine that is busy with other work may take many times as long as a quiet one.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    pool: 'forks',
    projects: [
      { extends: true, test: { name: 'unit', include: unitTests, isolate: false } },
      {
        extends: true,
        test: {
          name: 'embedded',
          include: embeddedDatabaseTests,
          exclude: unitTests,
          isolate: true,
          globalSetup: buildProgram,
        },
      },
      {
        extends: true,
        test: {
          name: 'parts',
          include: ['test/**/*.test.ts'],
          exclude: [...unitTests, ...embeddedDatabaseTests],
          // What one file has loaded, the next one need not load again.
          isolate: false,
          globalSetup: buildProgram,
        },
      },
    ],
  },
});
