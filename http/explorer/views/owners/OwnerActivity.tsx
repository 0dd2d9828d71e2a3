import type { ListPlace } from '../../../addresses/place.ts';
import { Available } from '../../components/Available.tsx';
import { EventItem } from '../../components/EventItem.tsx';
import { Linked } from '../../components/Linked.tsx';
import { More } from '../../components/More.tsx';
import { formatInteger } from '../../format/numbers.ts';
import { describeOwnerEvent, type OwnerEvent } from '../../format/ownerEvents.ts';
import type { Bodies } from '../../page.ts';
import type { Portfolio } from './Positions.tsx';

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
              <ol class="events">
                {events.map((event) => (
                  <OwnerEventItem key={event.id} event={event} owner={owner} configuration={configuration} />
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

interface OwnerEventItemProps {
  readonly event: OwnerEvent;
  readonly owner: string;
  readonly configuration: Portfolio['configuration'];
}

/** An event of an owner, or of a miner that it owns. */
export function OwnerEventItem({ event, owner, configuration }: OwnerEventItemProps) {
  const { id, source } = event;
  return (
    <EventItem
      id={id}
      tone="issued"
      at={source.blockTimestamp}
      source={`chain block ${formatInteger(source.blockNumber)}`}
      transactionHash={source.transactionHash}
    >
      <Linked of={describeOwnerEvent(event, owner, configuration)} />
    </EventItem>
  );
}
