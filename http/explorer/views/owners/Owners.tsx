import type { Place } from '../../../addresses/place.ts';
import { Available, findAvailable } from '../../components/Available.tsx';
import { Linked, To } from '../../components/Linked.tsx';
import { More, Newest } from '../../components/More.tsx';
import { usePage } from '../../components/pageContext.ts';
import { formatInteger } from '../../format/numbers.ts';
import { describeOwnerEvent, type OwnerEvent } from '../../format/ownerEvents.ts';
import { nameView } from '../../nameView.ts';
import type { Shown } from '../../page.ts';
import { listOwnerPaths } from '../../resources.ts';
import { EventItem } from '../feed/EventList.tsx';
import { Positions } from './Positions.tsx';

type OwnersPlace = Extract<Place, { readonly view: 'owners' }>;

const ownersFeed: Place = { view: 'feed', category: 'players' };

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
            <>
              <code class="hash whole">{place.address}</code>{' '}
              <To text="Show on the first page" place={{ view: 'glance', owner: place.address }} />
            </>
          )}
        </p>
      </section>
      {place.address !== null && <Owner {...place} address={place.address} />}
    </>
  );
}

function Owner(place: OwnersPlace & { readonly address: string }) {
  const { read } = usePage();
  const paths = listOwnerPaths(place.address, place.earlier);
  const activity = read('activity', paths.activity);
  return (
    <>
      <Newest place={place} />
      <Available what="Positions" body={read('portfolio', paths.positions)}>
        {(portfolio) => (
          <>
            <Positions portfolio={portfolio} activity={findAvailable(activity)} place={place} />
            <section aria-labelledby="activity">
              <h2 id="activity">Activity</h2>
              <Available what="Activity" body={activity}>
                {({ activity: events, owner, nextCursor }) => (
                  <>
                    {events.length === 0 && <p class="empty">Nothing yet at the safe block.</p>}
                    <ol class="events">
                      {events.map((event) => toOwnerItem(event, owner, portfolio.configuration))}
                    </ol>
                    <More place={place} list="activity" cursor={nextCursor} text="Earlier activity" />
                  </>
                )}
              </Available>
            </section>
          </>
        )}
      </Available>
    </>
  );
}

/** An event of an owner, or of a miner that it owns, as an item of a list. */
export function toOwnerItem(
  event: OwnerEvent,
  owner: string,
  asset: Shown<'portfolio'>['configuration'] | null,
) {
  const { id, source } = event;
  return (
    <EventItem
      key={id}
      id={id}
      tone="issued"
      at={source.blockTimestamp}
      source={`chain block ${formatInteger(source.blockNumber)}`}
      transactionHash={source.transactionHash}
    >
      <Linked of={describeOwnerEvent(event, owner, asset)} />
    </EventItem>
  );
}
