import type { RoundRow } from '../../actors/wheel/roundFold.ts';
import { column, count, name, smallCount, sum, time } from './column.ts';
import { defineTable } from './table.ts';

/** A round as it is stored: its work is null where it is above what the column holds. */
export interface StoredRound extends Omit<RoundRow, 'workUnits'> {
  readonly workUnits: bigint | null;
}

/** Observed rounds; each generation has a table of them. */
export const rounds = defineTable<StoredRound>({
  name: 'rounds',
  comment:
    'Rounds of 600 seconds that were observed, every instant of them; a round that is missing has no row',
  columns: {
    installationId: column(name, { comment: 'Installation that the wheel is of' }),
    roundId: column(smallCount, {
      comment: 'Number of the round; 1 starts at the genesis',
      codec: 'DoubleDelta, ZSTD(1)',
    }),
    startMs: column(time, { comment: 'Start of the round', codec: 'DoubleDelta, ZSTD(1)' }),
    workUnits: column(sum, {
      comment: 'Work in work units; null where it is above 2^256 - 1',
      codec: 'ZSTD(1)',
    }),
    position: column(count, {
      comment: 'Sequence in MINER_COUNTER of the reading that closed the round',
      codec: 'Delta, ZSTD(1)',
    }),
  },
  engine: 'ReplacingMergeTree(position)',
  partitionBy: { month: 'startMs' },
  orderBy: ['installationId', 'roundId'],
});
