import type { ComponentChildren } from 'preact';
import type { Tone } from '../format/events.ts';
import type { Sentence } from '../format/sentence.ts';
import { Linked } from './Linked.tsx';
import { Time } from './Time.tsx';
import { TransactionLink } from './TransactionLink.tsx';

interface EventItemProps {
  readonly id: string;
  /** Colour of the event's mark. */
  readonly tone: Tone;
  readonly at: string;
  /** Path of the event's own page, if it has one. */
  readonly href?: string;
  /** Origin of the event, such as `Ethereum block 17`. */
  readonly source: Sentence;
  /** Null for an event of the wheel. */
  readonly transactionHash: string | null;
  readonly children: ComponentChildren;
}

export function EventItem({ id, tone, at, href, source, transactionHash, children }: EventItemProps) {
  return (
    <li class={`event ${tone}`} id={id}>
      <div class="event-text">{children}</div>
      <div class="event-source quiet small">
        {href === undefined ? (
          <Time at={at} as="minute" />
        ) : (
          <a href={href} class="quiet">
            <Time at={at} as="minute" />
          </a>
        )}{' '}
        · <Linked of={source} />
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
