import type { ComponentChildren } from 'preact';
import { Available } from '../../components/Available.tsx';
import { Linked } from '../../components/Linked.tsx';
import { Time } from '../../components/Time.tsx';
import { TransactionLink } from '../../components/TransactionLink.tsx';
import {
  describeEvent,
  findTone,
  foldEvents,
  nameEventSource,
  nameRounds,
  type Tone,
} from '../../format/events.ts';
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

export function toItem(event: FeedEvent) {
  const { id, occurredAt, source } = event;
  const { title, sentence } = describeEvent(event);
  const transactionHash = source.kind === 'chain' ? source.transactionHash : null;
  return (
    <EventItem
      key={id}
      {...{ id, transactionHash }}
      tone={findTone(event)}
      at={occurredAt}
      source={nameEventSource(event)}
    >
      <strong>{title}</strong> <Linked of={sentence} />
    </EventItem>
  );
}

interface EventItemProps {
  readonly id: string;
  readonly tone: Tone;
  readonly at: string;
  /** Origin of the event, such as `chain block 17`. */
  readonly source: string;
  /** Null for an event of the wheel. */
  readonly transactionHash: string | null;
  readonly children: ComponentChildren;
}

export function EventItem({ id, tone, at, source, transactionHash, children }: EventItemProps) {
  return (
    <li class={`event ${tone}`} id={id}>
      <div>{children}</div>
      <div class="quiet small">
        <Time at={at} as="minute" /> · {source}
        {transactionHash !== null && ' · '}
        {transactionHash !== null && <TransactionLink hash={transactionHash} />}
      </div>
    </li>
  );
}
