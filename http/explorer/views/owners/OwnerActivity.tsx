import { Available } from '../../components/Banner.tsx';
import { EventItem } from '../../components/EventItem.tsx';
import { Linked } from '../../components/Linked.tsx';
import { More } from '../../components/More.tsx';
import { nameMiners } from '../../format/events.ts';
import { formatShort } from '../../format/numbers.ts';
import { type Sentence, say, toEthereumBlock, toOwner } from '../../format/sentence.ts';
import type { Bodies } from '../../page.ts';
import type { ListPlace } from '../../place.ts';
import type { Portfolio } from './Positions.tsx';

type Activity = Extract<Bodies['activity'], { status: 'available' }>;
type OwnerEvent = Activity['activity'][number];

interface OwnerActivityProps {
  readonly activity: Bodies['activity'] | null;
  readonly place: ListPlace;
  readonly configuration: Portfolio['configuration'];
}

/** An owner's activity, newest first. */
export function OwnerActivity({ activity, place, configuration }: OwnerActivityProps) {
  return (
    <section aria-labelledby="activity">
      <h2 id="activity">Activity</h2>
      <Available what="Activity" body={activity}>
        {({ activity: events, owner, nextCursor }) => (
          <>
            {events.length === 0 && <p class="empty">Nothing yet at the safe block.</p>}
            {events.length > 0 && (
              <ol class="events" id="list-activity">
                {events.map((event) => (
                  <EventItem
                    key={event.id}
                    id={event.id}
                    family="players"
                    at={event.source.blockTimestamp}
                    source={say`Ethereum block ${toEthereumBlock(event.source.blockNumber)}`}
                    transactionHash={event.source.transactionHash}
                  >
                    <Linked of={describe(event, owner, configuration)} />
                  </EventItem>
                ))}
              </ol>
            )}
            <More place={place} list="activity" cursor={nextCursor} text="Earlier activity" />
          </>
        )}
      </Available>
    </section>
  );
}

function describe(
  event: OwnerEvent,
  owner: string,
  { tokenSymbol, tokenDecimals }: OwnerActivityProps['configuration'],
): Sentence {
  const miners = nameMiners(event.tokenIds);
  const amount =
    event.amountBaseUnits === null
      ? ''
      : `${formatShort(event.amountBaseUnits, tokenDecimals, 4)} ${tokenSymbol}`;
  const nameOwner = (address: string | null) => (address === null ? 'an unknown address' : toOwner(address));
  switch (event.kind) {
    case 'mint':
      return say`Created ${miners}.`;
    case 'merge':
      return say`Merged ${miners}${event.level === null ? '' : ` to level ${event.level}`}.`;
    case 'claim':
      return say`Claimed ${amount} of ${miners}.`;
    case 'transfer':
      return event.from === owner
        ? say`Gave ${miners} to ${nameOwner(event.to)}.`
        : say`Received ${miners} from ${nameOwner(event.from)}.`;
    case 'checkpoint':
      return say`Minted ${amount}.`;
  }
}
