import { newestEventsMax } from '../../../../actors/views/feed/feedRecords.ts';
import { formatPlace, type Place, type RecordView } from '../../../addresses/place.ts';
import { Available, findAvailable, Unavailable } from '../../components/Available.tsx';
import { To } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { WholeTransaction } from '../../components/TransactionLink.tsx';
import { formatInteger } from '../../format/numbers.ts';
import { toMiner } from '../../format/sentence.ts';
import { explain } from '../../format/words.ts';
import { nameView } from '../../nameView.ts';
import type { FeedEvent, ReadBody } from '../../page.ts';
import { listRecordEvents, metadataPath, recordPath, statusPath } from '../../resources.ts';
import { DayFacts, Neighbours } from '../days/DayFacts.tsx';
import { toItem } from '../feed/EventList.tsx';
import { toOwnerItem } from '../owners/Owners.tsx';
import { LatestSubmission } from '../settlements/LatestSubmission.tsx';
import { MinerFacts } from './MinerFacts.tsx';
import { RoundFacts } from './RoundFacts.tsx';

const leads: Partial<Record<RecordView, string>> = {
  miner: 'A position that shares the minted tokens by weight.',
  transaction: 'The events of this transaction.',
};

const withoutEvents =
  'No events for this transaction. It does not have 12 confirmations yet, or it belongs to other contracts.';

export function RecordPage({ view, id }: { view: RecordView; id: string }) {
  const { read, chain } = usePage();
  const events = listRecordEvents(view, id, read);
  const transaction = view === 'transaction' ? read(view, recordPath(view, id)) : null;
  const transfers = findAvailable(transaction)?.transfers ?? [];
  return (
    <section aria-labelledby="record">
      <h1 id="record">{nameView({ view, id })}</h1>
      {leads[view] !== undefined && <p class="lead">{leads[view]}</p>}
      {view === 'transaction' && (
        <Transaction hash={id} isKnown={(events?.length ?? 0) + transfers.length > 0} />
      )}
      {view === 'miner' && <Miner tokenId={id} />}
      {view === 'round' && <RoundFacts round={id} />}
      {view === 'day' && <DayFacts date={id} />}
      {events === null && chain !== null && <Unavailable>Events cannot be read at the moment.</Unavailable>}
      {view === 'transaction' && chain === null && <Unavailable>{explain('indexer_disabled')}</Unavailable>}
      {view === 'transaction' && events?.length === 0 && transfers.length === 0 && (
        <p class="empty">{withoutEvents}</p>
      )}
      {events !== null && events.length + transfers.length > 0 && (
        <>
          {view === 'day' && <h2>Milestones</h2>}
          <ol class="events">
            {view === 'miner' ? listMinerEvents(events, readMiner(read, id)) : events.map(toItem)}
            {transfers.map((event) => toOwnerItem(event, '', null))}
          </ol>
        </>
      )}
      {view === 'miner' && events !== null && <ShownTransfers tokenId={id} />}
      {view === 'miner' && events !== null && events.length >= newestEventsMax && (
        <p class="small quiet">These are its newest {formatInteger(newestEventsMax)} events.</p>
      )}
      {view === 'day' && <Neighbours date={id} />}
    </section>
  );
}

/** The body of a miner that exists at the safe block; null if it cannot be read or does not exist. */
function readMiner(read: ReadBody, tokenId: string) {
  const miner = read('miner', recordPath('miner', tokenId));
  return miner === null || 'error' in miner ? null : findAvailable(miner);
}

function listMinerEvents(events: readonly FeedEvent[], found: ReturnType<typeof readMiner>) {
  const { owner, transfers, configuration } = found ?? { owner: null, transfers: [], configuration: null };
  const items = [
    ...events.map((event) => [event.occurredAt, toItem(event)] as const),
    ...transfers.map((event) => {
      const item = configuration && toOwnerItem(event, owner ?? '', configuration);
      return [event.source.blockTimestamp, item] as const;
    }),
  ];
  return items.sort(([one], [other]) => Date.parse(other) - Date.parse(one)).map(([, item]) => item);
}

/** Says which transfers of a live miner the list has: one that is missing is not one that never happened. */
function ShownTransfers({ tokenId }: { tokenId: string }) {
  const owner = readMiner(usePage().read, tokenId)?.owner ?? null;
  if (owner === null) return null;
  return (
    <p class="small quiet">
      Only transfers among the newest actions of its owner are listed.{' '}
      <To text="All actions of the owner" place={{ view: 'owners', address: owner }} /> are on its page.
    </p>
  );
}

/** A transaction that is not known yet may be the newest batch. */
function Transaction({ hash, isKnown }: { hash: string; isKnown: boolean }) {
  const queue = usePage().read('status', statusPath)?.settlementQueue;
  const submission = queue?.status === 'available' && !isKnown ? queue.latestSubmission : null;
  return (
    <>
      <p>
        <WholeTransaction hash={hash} />
      </p>
      {submission?.transactionHash === hash && (
        <p>
          <LatestSubmission submission={submission} />
        </p>
      )}
    </>
  );
}

function Miner({ tokenId }: { readonly tokenId: string }) {
  const { read } = usePage();
  const found = readMiner(read, tokenId);
  const metadata = read('metadata', metadataPath(tokenId));
  if (found !== null && found.position === null) {
    const merge = found.events.find(
      (event) => event.type === 'player.miners_merged' && event.payload.donorTokenId === tokenId,
    );
    return found.mergedInto === null || merge === undefined ? (
      <p>This miner has been merged into another one.</p>
    ) : (
      <p>
        It was merged into miner <To {...toMiner(found.mergedInto)} /> on{' '}
        <Time at={merge.occurredAt} as="minute" />.
      </p>
    );
  }
  return (
    <>
      {metadata?.status === 'unavailable' && metadata.reason === 'not_yet_safe' ? (
        <p>Its picture and attributes are not known at the safe block.</p>
      ) : (
        <Available what={`Miner ${tokenId}`} body={metadata}>
          {({ name, imageDataUri, description }) => (
            <article class="card" aria-label={name}>
              {imageDataUri !== undefined && <img src={imageDataUri} alt="" width="160" height="160" />}
              <p>{description}</p>
            </article>
          )}
        </Available>
      )}
      {found !== null && <MinerFacts miner={found} />}
    </>
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
