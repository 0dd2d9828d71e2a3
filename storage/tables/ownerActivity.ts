import { activityKinds } from '../../actors/chain/chainState.ts';
import type { OwnerActivityRow } from '../../actors/storedRows.ts';
import {
  address,
  amounts,
  column,
  count,
  enumerated,
  hex,
  largeCount,
  name,
  nullableAddress,
  nullableAmount,
  nullableByte,
  nullableLargeCount,
  smallCount,
  time,
} from './column.ts';
import { defineTable } from './table.ts';

/** A page is a few marks of the table, whatever it holds. */
const rowsPerMark = 256;

/**
 * What owners did, as far as no reorganization can take it away: the same table for all generations, since a replay does not fold the chain. It is
 * not partitioned: a page is read from every part that may hold some of it. Where an event was made again from another block, the later one stays.
 */
export const ownerActivity = defineTable<OwnerActivityRow>({
  name: 'chain_owner_activity',
  comment: 'What owners did on the chain, and what was done with tokens of theirs, in final blocks',
  columns: {
    run: column(name, { comment: 'Run of the fold that made it, named by its first message' }),
    owner: column(address, { comment: 'Owner whose activity it is', codec: 'ZSTD(1)' }),
    eventNumber: column(count, {
      comment: 'Number of the event among those of the owner, from 0',
      codec: 'Delta, ZSTD(1)',
    }),
    kind: column(enumerated(activityKinds), { comment: 'mint, merge, claim or transfer' }),
    contractAddress: column(address, { comment: 'Contract that logged it', codec: 'ZSTD(1)' }),
    tokenIds: column(amounts, {
      comment: 'Tokens; of a merge the survivor, then the donor',
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
    blockNumber: column(largeCount, { comment: 'Block of the chain', codec: 'Delta, ZSTD(1)' }),
    blockHash: column(hex, { comment: 'Hash of the block', codec: 'ZSTD(1)' }),
    blockTimestampMs: column(time, { comment: 'Time of the block', codec: 'Delta, ZSTD(1)' }),
    transactionHash: column(hex, { comment: 'Transaction that logged it', codec: 'ZSTD(1)' }),
    transactionIndex: column(smallCount, { comment: 'Place of the transaction in the block' }),
    logIndex: column(smallCount, { comment: 'Place of the log in the block' }),
    position: column(count, {
      comment: 'Sequence in MINER_CHAIN of the message that made the block safe; 1 where it is not known',
      codec: 'Delta, ZSTD(1)',
    }),
  },
  engine: 'ReplacingMergeTree(position)',
  orderBy: ['run', 'owner', 'eventNumber'],
  rowsPerMark,
});
