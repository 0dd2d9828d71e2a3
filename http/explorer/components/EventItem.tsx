import type { ComponentChildren } from 'preact';
import { Time } from './Time.tsx';
import { TransactionLink } from './TransactionLink.tsx';

interface EventItemProps {
  /** It decides the mark of the event. */
  readonly family: 'protocol' | 'players' | 'measurement';
  readonly at: string;
  /** Where it is from, such as `block 17`. */
  readonly source: string;
  /** Null where it is not of the chain. */
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
