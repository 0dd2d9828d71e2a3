import type { JetStreamManager } from '@nats-io/jetstream';
import { confirmations } from '../../actors/chain/confirmations.ts';
import { decodeChain } from '../../actors/chain/decodeChain.ts';
import type { Database } from '../../storage/database.ts';
import { readNewestChainRows } from '../../storage/newestChainRows.ts';
import { hasOpenRemoval } from '../../storage/removals.ts';
import type { Tables } from '../../storage/tables.ts';

export interface ChainHistoryOptions {
  readonly database: Database;
  readonly tables: () => Tables;
  readonly jsm: JetStreamManager;
}

/**
 * Whether the newest rows of the chain's history are of messages that the stream has lost: JetStream can lose a stream's end after rows were
 * stored, and reuse the sequences. No snapshot shows it where the one that is restored lies before what was lost.
 */
export async function isChainHistoryReplaced({
  database,
  tables,
  jsm,
}: ChainHistoryOptions): Promise<boolean> {
  if (await hasOpenRemoval(database)) return true;
  const { event, blocks } = await readNewestChainRows(database, tables());
  const { state } = await jsm.streams.info('MINER_CHAIN');
  const readMessage = async (position: number) =>
    position < state.first_seq ? null : await jsm.streams.getMessage('MINER_CHAIN', { seq: position });

  for (const { position, arrivedAtMs } of event === null ? [] : [event]) {
    if (position > state.last_seq) return true;
    const stored = await readMessage(position);
    if (stored !== null && stored.time.getTime() !== arrivedAtMs) return true;
  }
  for (const { position, blockNumber } of blocks) {
    if (position > state.last_seq) return true;
    const stored = await readMessage(position);
    if (stored === null) continue;
    const decoded = decodeChain(stored.subject, stored.data);
    // The message that made a block safe reaches so far above it.
    const isOfIt =
      decoded !== null && 'value' in decoded && decoded.value.toBlock >= blockNumber + confirmations - 1n;
    if (!isOfIt) return true;
  }
  return false;
}
