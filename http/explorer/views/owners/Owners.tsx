import type { Place } from '../../../addresses/place.ts';
import { Available, findAvailable } from '../../components/Available.tsx';
import { To } from '../../components/Linked.tsx';
import { Newest } from '../../components/More.tsx';
import { usePage } from '../../components/pageContext.ts';
import { nameView } from '../../nameView.ts';
import { listOwnerPaths } from '../../resources.ts';
import { OwnerActivity } from './OwnerActivity.tsx';
import { Positions } from './Positions.tsx';

type OwnersPlace = Extract<Place, { readonly view: 'owners' }>;

const ownersFeed: Place = { view: 'feed', category: 'players' };

/** An owner's miners, earnings and activity. Without an owner, the way to them. */
export function Owners(place: OwnersPlace) {
  return (
    <>
      <section aria-labelledby="owners">
        <h1 id="owners">{nameView(place)}</h1>
        <p class="lead">
          {place.address === null ? (
            <>
              Miners share the minted tokens by weight. Search for an address to see what it owns, or look at{' '}
              <To text="what owners did last" place={ownersFeed} />.
            </>
          ) : (
            <code class="hash whole">{place.address}</code>
          )}
        </p>
      </section>
      {place.address !== null && <Owner {...place} address={place.address} />}
    </>
  );
}

function Owner(place: OwnersPlace & { readonly address: string }) {
  const { read } = usePage();
  const { positions, activity } = listOwnerPaths(place.address, place.earlier);
  const acts = read('activity', activity);
  return (
    <>
      <Newest place={place} />
      <Available what="Positions" body={read('portfolio', positions)}>
        {(body) => (
          <>
            <Positions portfolio={body} activity={findAvailable(acts)} place={place} />
            <OwnerActivity activity={acts} place={place} configuration={body.configuration} />
          </>
        )}
      </Available>
    </>
  );
}
