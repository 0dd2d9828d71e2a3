import type { ComponentChildren } from 'preact';
import { Time } from './Time.tsx';
import { TransactionLink } from './TransactionLink.tsx';

interface EventItemProps {
  /** Decides the colour of the event's mark. */
  readonly family: 'protocol' | 'players' | 'measurement';
  readonly at: string;
  /** Origin of the event, such as `block 17`. */
  readonly source: string;
  /** Null for an event of the wheel. */
  readonly transactionHash: string | null;
  readonly children: ComponentChildren;
}

export function EventItem({ family, at, source, transactionHash, children }: EventItemProps) {
  return (
    <li class={`event ${family}`}>
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
