import type { ChainUnavailable } from '../../../actors/views/chain/chainViewTypes.ts';
import type { ActorViews } from '../../../actors/views/views.ts';

/** The views that pages show. While the chain cannot be read they are of its last known state, and the page says of when. */
export function createPageViews(views: ActorViews): ActorViews {
  const { chain, feed, lastKnownFeed } = views;
  const { lastKnown } = chain;
  const chooseFeed = () => (chain.economy().status === 'available' ? feed : lastKnownFeed);
  const replaced: Pick<ActorViews, 'chain' | 'feed'> = {
    chain: {
      ...chain,
      core: () => choose(chain.core(), lastKnown.core),
      issuance: () => choose(chain.issuance(), lastKnown.issuance),
      portfolio: (page) => choose(chain.portfolio(page), () => lastKnown.portfolio(page)),
      ownerActivity: (page, signal) =>
        choose(chain.ownerActivity(page, signal), () => lastKnown.ownerActivity(page, signal)),
      economy: () => choose(chain.economy(), lastKnown.economy),
      metadata: (tokenId) => choose(chain.metadata(tokenId), () => lastKnown.metadata(tokenId)),
    },
    feed: {
      ...feed,
      page: (request, signal) => chooseFeed().page(request, signal),
      locate: (id, signal) => chooseFeed().locate(id, signal),
      after: (category, from, limit) => chooseFeed().after(category, from, limit),
    },
  };
  // Other views are read from the original, whose statistics change.
  return Object.assign(Object.create(views), replaced);
}

/** The current view, or the last known one if there is no current one. If there is none either, the current one says why. */
function choose<View extends object>(current: View, readLastKnown: () => View): View {
  if (!isUnavailable(current)) return current;
  const known = readLastKnown();
  return isUnavailable(known) ? current : known;
}

function isUnavailable(view: object): view is ChainUnavailable {
  return 'status' in view && view.status === 'unavailable';
}
