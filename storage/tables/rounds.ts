import type { RoundRow } from '../../actors/wheel/roundFold.ts';
import { column, count, name, smallCount, sum, time } from '../definition/column.ts';
import { type OfRun, runColumn, type StoredWork, storedByColumn } from '../definition/runColumns.ts';
import { defineTable } from '../definition/table.ts';

/** Observed rounds. */
export const rounds = defineTable<StoredWork<RoundRow> & OfRun, StoredWork<RoundRow>>({
  name: 'stored_rounds',
  comment: 'Rounds of 600 seconds that were observed in full; a missing round has no row',
  columns: {
    run: runColumn,
    installationId: column(name, { comment: 'Installation of the wheel' }),
    roundId: column(smallCount, {
      comment: 'Number of the round; 1 starts at the genesis',
      codec: 'DoubleDelta, ZSTD(1)',
    }),
    startMs: column(time, { comment: 'Start of the round', codec: 'DoubleDelta, ZSTD(1)' }),
    workUnits: column(sum, {
      comment: 'Work in work units; null above 2^256 - 1',
      codec: 'ZSTD(1)',
    }),
    position: column(count, {
      comment: 'Sequence in MINER_COUNTER of the reading that closed the round',
      codec: 'Delta, ZSTD(1)',
    }),
    storedBy: storedByColumn('MINER_COUNTER'),
  },
  shared: ['run'],
  repeats: { storedBy: 'position' },
  engine: 'ReplacingMergeTree(position)',
  partitionBy: { value: 'run', month: 'startMs' },
  orderBy: ['run', 'installationId', 'roundId'],
});
