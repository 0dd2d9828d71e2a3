import type { ChainUnavailable } from '../../actors/views/chain/shownStates.ts';
import type { ActorViews } from '../../actors/views/views.ts';

/** The view of a chain route whose data cannot be shown (CONTRACT.md, Unavailable reasons). */
export function describeUnreadable({ chain, publicInstallationId }: ActorViews): ChainUnavailable {
  return {
    status: 'unavailable',
    installationId: publicInstallationId,
    reason: 'indexer_unavailable',
    release: chain.release,
  };
}
