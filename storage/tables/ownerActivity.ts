import type { OwnerActivityRow } from '../../actors/chain/rows/activityRows.ts';
import { activityKinds } from '../../actors/chain/state/ownerState.ts';
import type { EventSource } from '../../actors/events/eventSchemas.ts';
import type { StoredBy } from '../../actors/feed/eventRows.ts';
import {
  address,
  amounts,
  blockHash,
  type Column,
  column,
  count,
  enumerated,
  largeCount,
  nullableAddress,
  nullableAmount,
  nullableByte,
  nullableLargeCount,
  smallCount,
  time,
  transactionHash,
} from '../definition/column.ts';
import { type OfRun, runColumn, storedByColumn } from '../definition/runColumns.ts';
import { defineTable } from '../definition/table.ts';
import { rowsPerMark } from './events.ts';

/** A page needs every column of a few rows. With one file per column, opening files took most of the time. */
const oneFileBelowBytes = 1024 ** 3;

interface StoredSource extends EventSource, StoredBy {
  readonly position: number;
}

/** Origin of a log on the chain, and the messages that made it safe and final. */
const sourceColumns: { readonly [Key in keyof StoredSource]: Column<StoredSource[Key]> } = {
  blockNumber: column(largeCount, { comment: 'Block of the chain', codec: 'Delta, ZSTD(1)' }),
  blockHash: column(blockHash, { comment: 'Hash of the block', codec: 'ZSTD(1)' }),
  blockTimestampMs: column(time, { comment: 'Time of the block', codec: 'Delta, ZSTD(1)' }),
  transactionHash: column(transactionHash, { comment: 'Transaction that logged it', codec: 'ZSTD(1)' }),
  transactionIndex: column(smallCount, { comment: 'Place of the transaction in the block' }),
  logIndex: column(smallCount, { comment: 'Place of the log in the block' }),
  position: column(count, {
    comment: 'Sequence in MINER_CHAIN of the message that made the block safe; 1 if unknown',
    codec: 'Delta, ZSTD(1)',
  }),
  storedBy: storedByColumn('MINER_CHAIN'),
};

/**
 * Activity of owners in final blocks. A run is not partitioned further, since a page reads every part that may hold some of it. If an event is
 * stored once more after a reorganization, both rows stay, since a lineage may end between them.
 */
export const ownerActivity = defineTable<OwnerActivityRow & OfRun, OwnerActivityRow>({
  name: 'stored_owner_activity',
  comment: 'Activity of owners and their tokens on the chain, in final blocks',
  columns: {
    run: runColumn,
    owner: column(address, { comment: 'Owner whose activity it is', codec: 'ZSTD(1)' }),
    eventNumber: column(count, {
      comment: 'Number of the event in the activity of the owner, from 0',
      codec: 'Delta, ZSTD(1)',
    }),
    kind: column(enumerated(activityKinds), { comment: 'mint, merge, claim or transfer' }),
    contractAddress: column(address, { comment: 'Contract that logged it', codec: 'ZSTD(1)' }),
    tokenIds: column(amounts, {
      comment: 'Tokens; for a merge the survivor, then the donor',
      codec: 'ZSTD(1)',
    }),
    amountBaseUnits: column(nullableAmount, {
      comment: 'Base units that a claim paid; null for others',
      codec: 'ZSTD(1)',
    }),
    fromAddress: column(nullableAddress, { comment: 'Giver of a transfer', codec: 'ZSTD(1)' }),
    toAddress: column(nullableAddress, {
      comment: 'Receiver of a mint, a claim or a transfer',
      codec: 'ZSTD(1)',
    }),
    level: column(nullableByte, { comment: 'Level after a mint or a merge' }),
    effectiveRound: column(nullableLargeCount, {
      comment: 'Round from which the weight counts',
      codec: 'ZSTD(1)',
    }),
    nextMergeBlock: column(nullableLargeCount, {
      comment: 'Block of work from which the token may be merged again',
      codec: 'ZSTD(1)',
    }),
    ...sourceColumns,
  },
  shared: ['run'],
  engine: 'ReplacingMergeTree()',
  partitionBy: { value: 'run' },
  orderBy: ['run', 'owner', 'eventNumber', 'storedBy'],
  // Events of a transaction are found without their owners.
  ranges: ['blockNumber'],
  filters: ['transactionHash'],
  rowsPerMark,
  oneFileBelowBytes,
});
