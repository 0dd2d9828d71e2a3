import { Available } from '../../components/Available.tsx';
import { EventItem } from '../../components/EventItem.tsx';
import { Linked } from '../../components/Linked.tsx';
import { describeEvent, findTone, foldEvents, nameEventSource, nameRounds } from '../../format/events.ts';
import { writeSentence } from '../../format/sentence.ts';
import type { Bodies, FeedEvent } from '../../page.ts';

/** Events in sentences, newest first. Batches and mints in a row that changed nothing are folded. */
export function EventList({ feed, max }: { feed: Bodies['events'] | null; max?: number }) {
  return (
    <Available what="The feed" body={feed}>
      {({ events }) =>
        events.length === 0 ? (
          <p class="empty">Nothing has happened in this category yet.</p>
        ) : (
          <ol class="events">
            {foldEvents(events)
              .slice(0, max)
              .map((run) =>
                run.length === 1 ? run.map(toItem) : <EmptyEvents key={run[0]?.id} events={run} />,
              )}
          </ol>
        )
      }
    </Available>
  );
}

const toItem = (event: FeedEvent) => <DescribedEvent key={event.id} event={event} />;

/** Batches in a row that had no work, and mints of nothing between them. */
function EmptyEvents({ events }: { events: readonly FeedEvent[] }) {
  const batches = events.flatMap((one) => (one.type === 'system.settlement_completed' ? [one.payload] : []));
  const [newest, oldest] = [batches[0], batches.at(-1)];
  if (newest === undefined || oldest === undefined) return null;
  const rounds = nameRounds(oldest.previousSettledThroughRound, newest.settledThroughRound);
  return (
    <li class="event settled" id={`run-${events.at(-1)?.id}`}>
      <details>
        <summary>
          <strong>{batches.length} empty batches</strong> Rounds {writeSentence(rounds)} had no work.
        </summary>
        <ol class="events">{events.map(toItem)}</ol>
      </details>
    </li>
  );
}

export function DescribedEvent({ event }: { event: FeedEvent }) {
  const { title, sentence } = describeEvent(event);
  const { source } = event;
  return (
    <EventItem
      id={event.id}
      tone={findTone(event)}
      at={event.occurredAt}
      source={nameEventSource(event)}
      transactionHash={source.kind === 'chain' ? source.transactionHash : null}
    >
      <strong>{title}</strong> <Linked of={sentence} />
    </EventItem>
  );
}
