import { Available, findAvailable, Unavailable } from '../../components/Banner.tsx';
import { Copy } from '../../components/Copy.tsx';
import { To } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { WholeTransaction } from '../../components/TransactionLink.tsx';
import { formatInteger } from '../../format/numbers.ts';
import { toBlock, toEthereumBlock, toMiner } from '../../format/sentence.ts';
import type { FeedEvent } from '../../page.ts';
import { formatPlace, nameView, type Place, type RecordView } from '../../place.ts';
import { listRecordEvents } from '../../records.ts';
import { metadataPath, recordPath, statusPath } from '../../resources.ts';
import { DayFacts, Neighbours } from '../days/DayFacts.tsx';
import { DescribedEvent } from '../feed/EventList.tsx';
import { LatestSubmission } from '../settlements/LatestSubmission.tsx';
import { MinerFacts } from './MinerFacts.tsx';
import { RoundFacts } from './RoundFacts.tsx';

const leads: Readonly<Record<RecordView, string>> = {
  miner: 'A position that shares in what is minted, by its weight.',
  round: '',
  block: 'A block of the wheel’s work, for which tokens are minted.',
  'ethereum-block': 'What happened in this block of the chain.',
  transaction: 'What this transaction did.',
  event: '',
  day: '',
};

/** Sentences for records without events. */
const withoutEvents: Readonly<Partial<Record<RecordView, string>>> = {
  'ethereum-block': 'Nothing was settled or minted in this Ethereum block, and no owner did anything.',
  transaction:
    'Nothing that the feed shows is known of this transaction. It may not be 12 Ethereum blocks deep yet, may only have moved miners between owners, which is in the activity of both, or may belong to other contracts.',
};

/** Newest events that the route of a miner has. */
const newestEventsMax = 100;

/** The page of one miner, round, block, transaction, event or day. */
export function RecordPage({ view, id }: { view: RecordView; id: string }) {
  const events = listRecordEvents(view, id, usePage().read);
  const isWithout = events?.length === 0;
  return (
    <section aria-labelledby="record">
      <h1 id="record">{nameView({ view, id })}</h1>
      {leads[view] !== '' && <p class="lead">{leads[view]}</p>}
      {view === 'transaction' && <Transaction hash={id} isKnown={(events?.length ?? 0) > 0} />}
      {view === 'miner' && <Miner tokenId={id} />}
      {view === 'round' && <RoundFacts round={id} />}
      {view === 'block' && <WorkBlock number={id} />}
      {view === 'day' && <DayFacts date={id} />}
      {events === null && <Unavailable>Events cannot be read at the moment.</Unavailable>}
      {isWithout && withoutEvents[view] !== undefined && <p class="empty">{withoutEvents[view]}</p>}
      {events !== null && events.length > 0 && (
        <>
          {view === 'day' && <h2>What the wheel reached</h2>}
          <ol class="events">
            {events.map((event) => (
              <DescribedEvent key={event.id} event={event} />
            ))}
          </ol>
        </>
      )}
      {view === 'miner' && events !== null && events.length >= newestEventsMax && (
        <p class="small quiet">These are its newest {formatInteger(newestEventsMax)} events.</p>
      )}
      {view === 'day' && <Neighbours date={id} />}
      {view === 'event' && events?.[0] !== undefined && <Payload event={events[0]} />}
    </section>
  );
}

/** A transaction that is not known yet may be the newest batch. */
function Transaction({ hash, isKnown }: { hash: string; isKnown: boolean }) {
  const queue = usePage().read('status', statusPath)?.settlementQueue;
  const submission = queue?.status === 'available' && !isKnown ? queue.latestSubmission : null;
  return (
    <>
      <p>
        <WholeTransaction hash={hash} /> <Copy text={hash} what="the transaction" />
      </p>
      {submission?.transactionHash === hash && (
        <p>
          <LatestSubmission submission={submission} />
        </p>
      )}
    </>
  );
}

/** A miner at the safe block, or what has become of it. */
function Miner({ tokenId }: { readonly tokenId: string }) {
  const { read } = usePage();
  const miner = read('miner', recordPath('miner', tokenId));
  const metadata = read('metadata', metadataPath(tokenId));
  const found = miner === null || 'error' in miner ? null : findAvailable(miner);
  if (found !== null && found.position === null) {
    const merge = found.events.find(
      (event) => event.type === 'player.miners_merged' && event.payload.donorTokenId === tokenId,
    );
    return found.mergedInto === null || merge === undefined ? (
      <p>There was a miner with this number. It has been merged into another one.</p>
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
        <p>Its picture and its attributes are not known at the safe block.</p>
      ) : (
        <Available what={`Miner ${tokenId}`} body={metadata}>
          {({ name, imageDataUri, description }) => (
            <article class="token-card" aria-label={name}>
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

/** How far a block of work has come. */
function WorkBlock({ number }: { number: string }) {
  const body = usePage().read('block', recordPath('block', number));
  if (body?.status !== 'available') return null;
  const { blockHeight: height } = body;
  const isComplete = BigInt(number) <= BigInt(height);
  const { deploymentBlock, safeThroughBlock } = body.chain;
  const isEthereumBlock =
    BigInt(number) >= BigInt(deploymentBlock) && BigInt(number) <= BigInt(safeThroughBlock);
  return (
    <>
      <p>
        {isComplete ? (
          'It is complete. This batch has completed it:'
        ) : (
          <>
            It is not complete yet. The newest complete one is{' '}
            {height === '0' ? 'still to come' : <To {...toBlock(height)} />}.
          </>
        )}
      </p>
      {!isComplete && isEthereumBlock && (
        <p>
          There is an Ethereum block with this number: <To {...toEthereumBlock(number)} />.
        </p>
      )}
    </>
  );
}

/** All members of an event, as the feed names them. */
function Payload({ event: { id, recordedAt, payload } }: { event: FeedEvent }) {
  const members = { id, recordedAt, ...payload };
  return (
    <details class="data">
      <summary>All its data</summary>
      <dl class="attributes">
        {Object.entries(members).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>{' '}
              {name === 'id' && <Copy text={id} what="the ID" />}
            </dd>
          </div>
        ))}
      </dl>
    </details>
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
