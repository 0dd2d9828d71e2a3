import { Unavailable } from '../components/Banner.tsx';
import { More } from '../components/More.tsx';
import { ResourceNotice } from '../components/ResourceNotice.tsx';
import { Time } from '../components/Time.tsx';
import { TransactionLink } from '../components/TransactionLink.tsx';
import { formatInteger, formatShort, shortenHash } from '../format/numbers.ts';
import { explain } from '../format/words.ts';
import type { Bodies, Resource } from '../page.ts';
import type { Portfolio } from './Positions.tsx';

type Activity = Extract<Bodies['activity'], { status: 'available' }>;
type OwnerEvent = Activity['activity'][number];

interface OwnerActivityProps {
  readonly activity: Resource<Bodies['activity']>;
  readonly path: string;
  readonly configuration: Portfolio['configuration'];
}

/** What an owner did, newest first. */
export function OwnerActivity({ activity, path, configuration }: OwnerActivityProps) {
  const { body } = activity;
  return (
    <section aria-labelledby="activity">
      <h2 id="activity">Activity</h2>
      <ResourceNotice what="Activity" resource={activity} />
      {body?.status === 'unavailable' && <Unavailable>{explain(body.reason)}</Unavailable>}
      {body?.status === 'available' && body.activity.length === 0 && (
        <p class="empty">Nothing yet at the safe block.</p>
      )}
      {body?.status === 'available' && body.activity.length > 0 && (
        <ol class="events">
          {body.activity.map((event) => (
            <li key={event.id} class="event players">
              <div class="event-text">{describe(event, body.owner, configuration)}</div>
              <div class="event-source quiet small">
                <Time at={event.source.blockTimestamp} as="minute" /> · block{' '}
                {formatInteger(event.source.blockNumber)} ·{' '}
                <TransactionLink hash={event.source.transactionHash} />
              </div>
            </li>
          ))}
        </ol>
      )}
      {body?.status === 'available' && (
        <More name="activity" path={path} cursor={body.nextCursor} text="Earlier activity" />
      )}
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
