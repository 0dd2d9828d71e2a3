import type { RoundRow } from '../../actors/storedRows.ts';
import { decimal, integer, string } from './column.ts';
import { defineTable } from './table.ts';

/** Observed rounds; each generation has a table of them. */
export const rounds = defineTable<RoundRow>({
  name: 'rounds',
  columns: {
    installationId: string,
    roundId: integer,
    startMs: integer,
    workUnits: decimal,
    position: integer,
  },
  engine: 'ReplacingMergeTree(position)',
  partitionBy: { time: 'startMs' },
  orderBy: ['installationId', 'roundId'],
});
