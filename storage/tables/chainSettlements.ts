import type { CheckpointRow, SettlementRow } from '../../actors/chain/rows/settlementRows.ts';
import { amount, column, count, largeCount } from '../definition/column.ts';
import { type OfRun, runColumn } from '../definition/runColumns.ts';
import { defineTable } from '../definition/table.ts';
import { rowsPerMark, sourceColumns } from './chainColumns.ts';

const sums = {
  cumulativeWork: column(amount, { comment: 'Work of all settled rounds in work units', codec: 'ZSTD(1)' }),
  cumulativeBlockUnits: column(amount, {
    comment: 'Block units of all settled rounds; 10^9 are a block of work',
    codec: 'ZSTD(1)',
  }),
};

/** Batches that the core recorded. */
export const chainSettlements = defineTable<SettlementRow & OfRun, SettlementRow>({
  name: 'stored_settlements',
  comment:
    'Batches of rounds that the core recorded in final blocks; the checkpoints hold the minted amounts',
  columns: {
    run: runColumn,
    settlementNumber: column(count, { comment: 'Number of the settlement, from 0', codec: 'Delta, ZSTD(1)' }),
    previousSettledThroughRound: column(largeCount, {
      comment: 'Last round settled before the batch',
      codec: 'Delta, ZSTD(1)',
    }),
    settledThroughRound: column(largeCount, { comment: 'Last round of the batch', codec: 'Delta, ZSTD(1)' }),
    activeRoundCount: column(largeCount, { comment: 'Rounds of the batch with work', codec: 'ZSTD(1)' }),
    workAdded: column(amount, { comment: 'Work of the batch in work units', codec: 'ZSTD(1)' }),
    ...sums,
    previousCumulativeBlockUnits: column(amount, {
      comment: 'Block units before the batch',
      codec: 'ZSTD(1)',
    }),
    ...sourceColumns,
  },
  shared: ['run'],
  engine: 'ReplacingMergeTree()',
  partitionBy: { value: 'run' },
  orderBy: ['run', 'settlementNumber', 'storedBy'],
  rowsPerMark,
});

/** Checkpoints of mining. */
export const chainCheckpoints = defineTable<CheckpointRow & OfRun, CheckpointRow>({
  name: 'stored_checkpoints',
  comment: 'Checkpoints in final blocks: amounts minted for settled rounds',
  columns: {
    run: runColumn,
    checkpointNumber: column(count, { comment: 'Number of the checkpoint, from 0', codec: 'Delta, ZSTD(1)' }),
    afterRound: column(largeCount, {
      comment: 'Last round of the previous checkpoint',
      codec: 'Delta, ZSTD(1)',
    }),
    throughRound: column(largeCount, {
      comment: 'Last round that the checkpoint minted for',
      codec: 'Delta, ZSTD(1)',
    }),
    completedBlockCount: column(largeCount, {
      comment: 'Blocks of work that the checkpoint completed',
      codec: 'ZSTD(1)',
    }),
    ...sums,
    eligibleWeight: column(amount, { comment: 'Weight that shared the minted amount', codec: 'ZSTD(1)' }),
    amountBaseUnits: column(amount, { comment: 'Base units that the checkpoint minted', codec: 'ZSTD(1)' }),
    totalMintedBaseUnits: column(amount, {
      comment: 'Base units minted so far, including the checkpoint',
      codec: 'ZSTD(1)',
    }),
    ...sourceColumns,
  },
  shared: ['run'],
  engine: 'ReplacingMergeTree()',
  partitionBy: { value: 'run' },
  orderBy: ['run', 'checkpointNumber', 'storedBy'],
  rowsPerMark,
});
