import type { ComponentChildren } from 'preact';
import type { Tone } from '../format/events.ts';
import { Time } from './Time.tsx';
import { TransactionLink } from './TransactionLink.tsx';

interface EventItemProps {
  readonly id: string;
  /** Colour of the event's mark. */
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
      <div class="event-text">{children}</div>
      <div class="event-source quiet small">
        <Time at={at} as="minute" /> · {source}
        {transactionHash !== null && (
          <>
            {' · '}
            <TransactionLink hash={transactionHash} />
          </>
        )}
      </div>
    </li>
  );
}
