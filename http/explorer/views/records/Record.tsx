import { Unavailable } from '../../components/Banner.tsx';
import { Copy } from '../../components/Copy.tsx';
import { TransactionLink } from '../../components/TransactionLink.tsx';
import { formatInteger } from '../../format/numbers.ts';
import { type FeedEvent, type MinerHolder, searchedEventsMax } from '../../page.ts';
import { formatPlace, nameView, type Place, type RecordView } from '../../place.ts';
import { DescribedEvent } from '../feed/EventList.tsx';
import { MinerFacts } from './MinerFacts.tsx';
import { RoundFacts } from './RoundFacts.tsx';
import { TokenCard } from './TokenCard.tsx';

interface RecordProps {
  readonly view: RecordView;
  readonly id: string;
  /** Newest first; null if they cannot be read at the moment. */
  readonly events: readonly FeedEvent[] | null;
  readonly holder: MinerHolder | null;
}

const leads: Readonly<Record<RecordView, string>> = {
  miner: 'A position that shares in what is minted, by its weight.',
  round: '',
  block:
    'The batch that completed the work block of this number, and what happened in the chain’s block of this number.',
  settlement: 'What this transaction has settled or minted.',
  event: 'An event of the feed.',
};

/** The page of one miner, round, block, transaction or event. */
export function RecordPage({ view, id, events, holder }: RecordProps) {
  const name = nameView({ view, id: view === 'miner' || view === 'settlement' ? id : formatInteger(id) });
  return (
    <section aria-labelledby="record">
      <h1 id="record">{name}</h1>
      {leads[view] !== '' && <p class="lead">{leads[view]}</p>}
      {view === 'settlement' && (
        <p>
          <TransactionLink hash={id} isWhole /> <Copy text={id} what="the transaction" />
        </p>
      )}
      {view === 'miner' && <TokenCard tokenId={id} />}
      {view === 'miner' && holder !== null && <MinerFacts tokenId={id} holder={holder} />}
      {view === 'round' && <RoundFacts round={id} />}
      {events === null && <Unavailable>Events cannot be read at the moment.</Unavailable>}
      {events !== null && events.length > 0 && (
        <ol class="events">
          {events.map((event) => (
            <DescribedEvent key={event.id} event={event} />
          ))}
        </ol>
      )}
      {view === 'miner' && (
        <p class="small quiet">
          Its events are searched for in the newest {formatInteger(searchedEventsMax)} of all owners. The page
          of an owner has older ones.
        </p>
      )}
      {view === 'event' && events?.[0] !== undefined && <Payload event={events[0]} />}
    </section>
  );
}

/** All members of an event, as the feed names them. */
function Payload({ event: { id, recordedAt, payload } }: { event: FeedEvent }) {
  const members = { id, recordedAt, ...payload };
  return (
    <dl class="attributes">
      {Object.entries(members).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
            {name === 'id' && <Copy text={id} what="the ID" />}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function Missing({ place }: { place: Extract<Place, { view: 'missing' }> }) {
  return (
    <section aria-labelledby="missing">
      <h1 id="missing">{nameView(place)}</h1>
      <p class="lead">{place.reason}</p>
      <ul>
        {place.others.map((one) => (
          <li key={one.view}>
            <a href={formatPlace(one)}>{'address' in one ? one.address : nameView(one)}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}
