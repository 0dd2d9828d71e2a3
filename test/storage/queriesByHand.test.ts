import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { type Lineage, type LineageRuns, noteLineage, openEnd } from '../../storage/runs/lineages.ts';
import { openTables, storeRows } from '../support/storage/openTables.ts';
import { someLineage } from '../support/storage/someLineage.ts';

const running = readFileSync(resolve(import.meta.dirname, '../../deploy/RUNNING.md'), 'utf8');
const [, statement = ''] = /```sql\n([^`]*stored_rounds[^`]*)```/.exec(running) ?? [];

it('the statement of RUNNING shows each row that counts once, and no other', async () => {
  const { database } = await openTables();
  const store = async (run: string, made: bigint, sequences: readonly number[]) => {
    for (const position of sequences)
      await storeRows(
        database,
        {
          rounds: [
            { installationId: 'wheel-1', roundId: position, startMs: position, workUnits: made, position },
          ],
        },
        run,
      );
  };
  const note = (runs: LineageRuns, change: Partial<Lineage> = {}) =>
    noteLineage(database, { ...someLineage, stream: 'MINER_COUNTER', runs, ...change }, 0);
  /** The round of each row, with the work that says who made it. */
  const expectShown = async (...rows: string[]) => {
    const found = await database.select(
      `SELECT toUnixTimestamp64Milli(start), toString(work_units) FROM (${statement.replace(/;\s*$/, '')})`,
    );
    expect(found.map(([round, made]) => `${round}:${made}`)).toEqual(rows);
  };
  await store('first', 1n, [1, 2, 3, 4]);
  await expectShown();
  await note([{ run: 'first', through: openEnd }]);
  await expectShown('1:1', '2:1', '3:1', '4:1');
  // A batch that was sent twice, and a run that has made the end again.
  await store('first', 1n, [2]);
  await store('second', 2n, [3, 4, 5]);
  await expectShown('1:1', '2:1', '3:1', '4:1');
  const second = [
    { run: 'first', through: 2 },
    { run: 'second', through: openEnd },
  ];
  await note(second, { step: 2 });
  const shown = ['1:1', '2:1', '3:2', '4:2', '5:2'];
  await expectShown(...shown);
  // Neither what a replay notes, nor what a process of an earlier epoch still notes, changes that.
  const replayed = [{ run: 'replay', through: openEnd }];
  await store('replay', 3n, [1, 2, 3]);
  await note(replayed, { epoch: 9, cause: 'filling' });
  await note(replayed, { epoch: 9, step: 2, cause: 'filled' });
  await note(replayed, { epoch: 0, step: 9 });
  await expectShown(...shown);
  await note(replayed, { epoch: 2, cause: 'counts', reason: 'replayed' });
  await expectShown('1:3', '2:3', '3:3');
});
