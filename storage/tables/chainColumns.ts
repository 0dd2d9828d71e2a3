import type { EventSource } from '../../actors/events/eventSchemas.ts';
import type { StoredBy } from '../../actors/feed/eventRows.ts';
import {
  blockHash,
  type Column,
  column,
  count,
  largeCount,
  smallCount,
  time,
  transactionHash,
} from '../definition/column.ts';
import { storedByColumn } from '../definition/runColumns.ts';

/** Small marks keep a page at a few marks of a table, however large. */
export const rowsPerMark = 256;

interface StoredSource extends EventSource, StoredBy {
  readonly position: number;
}

/** Origin of a log on the chain, and the messages that made it safe and final. */
export const sourceColumns: { readonly [Key in keyof StoredSource]: Column<StoredSource[Key]> } = {
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
