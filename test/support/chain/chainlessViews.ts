import { type ChainViews, createChainViews } from '../../../actors/views/chain/chainViews.ts';
import { manualClock } from '../manualClock.ts';
import { noOlderActivity } from '../storage/noOlderRows.ts';

/** Views of a deployment without contracts: each is `indexer_disabled`. */
export function chainlessViews(installationId = 'wheel-1'): ChainViews {
  return createChainViews({
    installationId,
    onChain: null,
    isCaughtUp: () => true,
    staleAfterMs: 120_000,
    behindAfterMs: Number.POSITIVE_INFINITY,
    olderActivity: noOlderActivity,
    clock: manualClock(),
  });
}
