import { expect, it } from 'vitest';
import { createActor, fromPromise, toPromise } from 'xstate';
import { ingestMachine } from '../../machines/ingestMachine.ts';
import { ServerTooOld } from '../../storage/clickhouse/serverVersion.ts';
import { DatabaseIncompatible, DatabaseTooNew } from '../../storage/migration/migrate.ts';
import { RebuildIncomplete } from '../../streams/ingest/acceptLosses.ts';

it.each([
  new DatabaseTooNew(3, 2),
  new DatabaseIncompatible(['readings.run']),
  new ServerTooOld('23.1'),
  new RebuildIncomplete('messages are gone'),
])('$name ends the ingest, since no further attempt can succeed', async (error) => {
  const machine = ingestMachine.provide({
    actors: {
      checkStored: fromPromise<void>(async () => {
        throw error;
      }),
    },
    actions: {
      reportFailure: () => {
        throw new Error('retried');
      },
    },
  });
  const ended = toPromise(createActor(machine, { input: { writes: false } }).start());
  expect(await ended).toEqual({ fault: error });
});
