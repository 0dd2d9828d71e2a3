import { Available } from '../../components/Banner.tsx';
import { EventItem } from '../../components/EventItem.tsx';
import { More } from '../../components/More.tsx';
import { nameChainBlock } from '../../format/events.ts';
import { formatShort, shortenHash } from '../../format/numbers.ts';
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
                    source={nameChainBlock(event.source.blockNumber)}
                    transactionHash={event.source.transactionHash}
                  >
                    {describe(event, owner, configuration)}
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
): string {
  const miners = `${event.tokenIds.length === 1 ? 'miner' : 'miners'} ${event.tokenIds.map((id) => `#${id}`).join(', ')}`;
  const amount =
    event.amountBaseUnits === null
      ? ''
      : `${formatShort(event.amountBaseUnits, tokenDecimals, 4)} ${tokenSymbol}`;
  switch (event.kind) {
    case 'mint':
      return `Created ${miners}.`;
    case 'merge':
      return `Merged ${miners}${event.level === null ? '' : ` to level ${event.level}`}.`;
    case 'claim':
      return `Claimed ${amount} of ${miners}.`;
    case 'transfer':
      return event.from === owner
        ? `Gave ${miners} to ${shortenHash(event.to ?? 'an unknown address')}.`
        : `Received ${miners} from ${shortenHash(event.from ?? 'an unknown address')}.`;
    case 'checkpoint':
      return `Minted ${amount}.`;
  }
}
