import { confirmations } from '../../actors/chain/spans/confirmations.ts';
import { decodeChain } from '../../actors/chain/spans/decodeChain.ts';
import type { Database } from '../../storage/database.ts';
import { readNewestChainRows } from '../../storage/newestChainRows.ts';
import type { Tables } from '../../storage/tables.ts';
import type { RowOrigin } from '../follower/storedHistory.ts';

/** Events say when their message was stored; rows of the other tables say which block it made safe. */
export async function readChainRowOrigins(database: Database, tables: Tables): Promise<RowOrigin[]> {
  const { event, blocks } = await readNewestChainRows(database, tables);
  const origins = blocks.map(
    ({ position, blockNumber }): RowOrigin => ({
      position,
      isMessage: ({ subject, data }) => {
        const decoded = decodeChain(subject, data);
        // The message that made a block safe reaches so far above it.
        return (
          decoded !== null && 'value' in decoded && decoded.value.toBlock >= blockNumber + confirmations - 1n
        );
      },
    }),
  );
  if (event === null) return origins;
  const { position, arrivedAtMs } = event;
  return [{ position, isMessage: ({ time }) => time.getTime() === arrivedAtMs }, ...origins];
}
