import { type ChainViews, createChainViews } from '../../../actors/views/chain/chainViews.ts';
import { genesisMs } from '../genesis.ts';
import { manualClock } from '../manualClock.ts';
import { noOlderActivity } from '../storage/noOlderRows.ts';

/** Views of the chain; without contracts, unless a test has some, each is `indexer_disabled`. */
export function createTestChainViews(
  options: Partial<Parameters<typeof createChainViews>[0]> = {},
): ChainViews {
  return createChainViews({
    installationId: 'wheel-1',
    onChain: null,
    genesisMs,
    isCaughtUp: () => true,
    staleAfterMs: 120_000,
    behindAfterMs: Number.POSITIVE_INFINITY,
    olderActivity: noOlderActivity,
    clock: manualClock(),
    ...options,
  });
}
