import type { ChainUnavailable } from '../../../actors/views/chain/shownStates.ts';
import type { ActorViews } from '../../../actors/views/views.ts';

/** The views that pages show: of the chain's last known state while it cannot be read. Such a page has a banner with its date. */
export function createPageViews(views: ActorViews): ActorViews {
  const { chain, feed, lastKnownFeed } = views;
  const { lastKnown } = chain;
  const replaced: Pick<ActorViews, 'chain' | 'feed'> = {
    chain: {
      ...chain,
      core: () => choose(chain.core(), lastKnown.core),
      issuance: () => choose(chain.issuance(), lastKnown.issuance),
      portfolio: (page) => choose(chain.portfolio(page), () => lastKnown.portfolio(page)),
      ownerActivity: (page, signal) =>
        choose(chain.ownerActivity(page, signal), () => lastKnown.ownerActivity(page, signal)),
      economy: () => choose(chain.economy(), lastKnown.economy),
      miner: (tokenId) => choose(chain.miner(tokenId), () => lastKnown.miner(tokenId)),
      miners: (page) => choose(chain.miners(page), () => lastKnown.miners(page)),
      owners: (page) => choose(chain.owners(page), () => lastKnown.owners(page)),
      metadata: (tokenId) => choose(chain.metadata(tokenId), () => lastKnown.metadata(tokenId)),
    },
    feed: {
      ...feed,
      page: (request, signal) =>
        (chain.economy().status === 'available' ? feed : lastKnownFeed).page(request, signal),
    },
  };
  // Other views are read from the original, whose statistics change.
  return Object.assign(Object.create(views), replaced);
}

/** The current view, or else the last known one. Without either, the current view has the reason. */
function choose<View extends object>(current: View, readLastKnown: () => View): View {
  if (!isUnavailable(current)) return current;
  const known = readLastKnown();
  return isUnavailable(known) ? current : known;
}

function isUnavailable(view: object): view is ChainUnavailable {
  return 'status' in view && view.status === 'unavailable';
}
