import { To } from '../../components/Linked.tsx';
import { Time } from '../../components/Time.tsx';
import { TransactionLink } from '../../components/TransactionLink.tsx';
import { count } from '../../format/numbers.ts';
import { toRound } from '../../format/sentence.ts';
import type { Bodies } from '../../page.ts';

type Queue = Extract<Bodies['status']['settlementQueue'], { status: 'available' }>;
type Submission = NonNullable<Queue['latestSubmission']>;

const lifecycles: Record<Submission['lifecycle'], string> = {
  preparing: 'is being prepared',
  submitted: 'is submitted and not confirmed yet',
  retrying: 'did not get through and is sent again',
  confirmed: 'is confirmed',
  reverted: 'was reverted by the contract: its rounds still wait',
  superseded: 'was replaced by another one',
};

export function LatestSubmission({ submission }: { submission: Submission }) {
  const { lifecycle, settledThroughRound, roundCount, transactionHash, changedAt } = submission;
  return (
    <span class={lifecycle === 'reverted' ? 'alert' : undefined}>
      {' '}
      The newest batch, {count(roundCount, 'round')} through <To {...toRound(settledThroughRound)} />,{' '}
      {lifecycles[lifecycle]} (<Time at={changedAt} as="minute" />
      {transactionHash !== null && (
        <>
          {', '}
          <TransactionLink hash={transactionHash} />
        </>
      )}
      ).
    </span>
  );
}
