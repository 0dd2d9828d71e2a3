import type { ComponentChildren } from 'preact';
import { To } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { TransactionLink } from '../../components/TransactionLink.tsx';
import { explainNoMint } from '../../format/mints.ts';
import { count, formatInteger, formatShort } from '../../format/numbers.ts';
import { toRound } from '../../format/sentence.ts';
import { explain, explainProjection, mintStates, oracleStates, queueStates } from '../../format/words.ts';
import type { Bodies } from '../../page.ts';
import { corePath } from '../../resources.ts';
import { computeRoundEnd } from '../../rounds.ts';

type History = Extract<Bodies['settlements'], { status: 'available' }>;
type Queue = Extract<Bodies['status']['settlementQueue'], { status: 'available' }>;
type Mining = Extract<History['mining'], { status: 'available' }>;
type Submission = NonNullable<Queue['latestSubmission']>;

/** Batches between the stages: since when they wait, and what blocks them. */
export function Waiting({
  status,
  settlements,
}: {
  status: Bodies['status'];
  settlements: Bodies['settlements'] | null;
}) {
  const { oracle, settlementQueue: queue } = status;
  return (
    <section aria-labelledby="waiting">
      <h2 id="waiting">What waits</h2>
      <dl class="waiting">
        <Item
          title="To be closed"
          tone={oracle.state === 'blocked' || oracle.state === 'stale' ? 'alert' : 'calm'}
        >
          The oracle {oracleStates[oracle.state] ?? oracle.state}
          {oracle.state === 'blocked' && oracle.reason !== null && <>: “{oracle.reason}”</>}.
          {oracle.latestClosure !== null && (
            <span class="quiet">
              {' '}
              Last: round <To {...toRound(oracle.latestClosure.lastRound)} />,{' '}
              <Time at={oracle.latestClosure.acceptedAt} as="ago" />
            </span>
          )}
        </Item>
        {queue.status === 'unavailable' ? (
          <Item title="To be settled" tone="calm">
            {explainProjection(queue.reason, status, usePage().chain)}
          </Item>
        ) : (
          <ToBeSettled queue={queue} />
        )}
        <ToBeMinted settlements={settlements} />
      </dl>
    </section>
  );
}

function Item({
  title,
  tone,
  children,
}: {
  title: string;
  tone: 'calm' | 'alert';
  children: ComponentChildren;
}) {
  return (
    <div class={`waiting-item ${tone}`}>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function ToBeSettled({ queue }: { queue: Queue }) {
  const { buffered, blockedReason, latestSubmission: submission, lastRun } = queue;
  const core = usePage().read('core', corePath);
  const words = queueStates[queue.state];
  const since =
    buffered.firstRound !== null && core?.status === 'available'
      ? computeRoundEnd(buffered.firstRound, core.configuration.genesisTimestamp)
      : null;
  const isAlert = ['blocked', 'stale', 'disabled'].includes(queue.state);
  return (
    <Item title="To be settled" tone={isAlert ? 'alert' : 'calm'}>
      <strong>{words?.title ?? queue.state}.</strong>{' '}
      {blockedReason === null ? (words?.meaning ?? '') : explain(blockedReason)}
      {buffered.roundCount !== '0' && (
        <>
          {' '}
          {count(buffered.roundCount, 'round')} {buffered.roundCount === '1' ? 'waits' : 'wait'},{' '}
          {formatInteger(buffered.activeRoundCount)} with work: {formatInteger(buffered.workUnits)} units
          {since !== null && buffered.firstRound !== null && (
            <>
              , the first is round <To {...toRound(buffered.firstRound)} />, since{' '}
              <Time at={since} as="ago" />
            </>
          )}
          .
        </>
      )}
      {lastRun !== null && queue.state === 'stale' && (
        <span class="quiet">
          {' '}
          Its last run ended <Time at={lastRun.finishedAt} as="ago" />.
        </span>
      )}
      {submission !== null && <LatestSubmission submission={submission} />}
    </Item>
  );
}

/** Describes the outcome of a submission (CONTRACT.md, Submission lifecycle). */
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
    <span class={`submission ${lifecycle}`}>
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

function ToBeMinted({ settlements }: { settlements: Bodies['settlements'] | null }) {
  const isAlert = settlements?.status === 'unavailable' && settlements.reason !== 'indexer_disabled';
  return (
    <Item title="To be minted" tone={isAlert ? 'alert' : 'calm'}>
      {settlements === null ? (
        <span class="unknown">unknown</span>
      ) : settlements.status === 'unavailable' ? (
        explain(settlements.reason)
      ) : settlements.mining.status === 'unavailable' ? (
        explain(settlements.mining.reason)
      ) : (
        <NextRound mining={settlements.mining} />
      )}
    </Item>
  );
}

function NextRound({ mining }: { mining: Mining }) {
  const { nextRound, economy } = mining;
  return (
    <>
      <strong>
        Round <To {...toRound(nextRound.round)} /> is next.
      </strong>{' '}
      {mintStates[nextRound.state] ?? nextRound.state}{' '}
      {explainNoMint(mining) ?? (
        <>
          A checkpoint would mint{' '}
          <strong>
            {formatShort(nextRound.amountBaseUnits, economy.decimals, 2)} {economy.symbol}
          </strong>{' '}
          for {count(nextRound.completedBlockCount, 'work block')}, through round{' '}
          <To {...toRound(nextRound.countedThroughRound)} />.
        </>
      )}
    </>
  );
}
