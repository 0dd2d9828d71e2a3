import type { ComponentChildren } from 'preact';
import { Chart, cells } from '../../charts/Chart.tsx';
import { findAvailable } from '../../components/Banner.tsx';
import { To } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { explainNoMint } from '../../format/mints.ts';
import { nameChain } from '../../format/networks.ts';
import { count, formatInteger, formatShort } from '../../format/numbers.ts';
import { toRound } from '../../format/sentence.ts';
import { formatDuration, time } from '../../format/times.ts';
import { explain, explainProjection, oracleStates, queueStates } from '../../format/words.ts';
import type { Bodies } from '../../page.ts';
import { corePath, issuancePath, settlementsPath, statisticsPath } from '../../resources.ts';
import {
  expectNext,
  listStagedRounds,
  type RoundStage,
  roundStages,
  type StagedRound,
} from '../../roundStages.ts';
import { roundMs } from '../../rounds.ts';
import { LatestSubmission } from '../settlements/LatestSubmission.tsx';

type Status = Bodies['status'];

const roundsShown = 24;
const tile = 10;

/**
 * The newest rounds as tiles, each in the lane of its stage: with time, every tile moves from lane to lane. A note in each lane says what the
 * picture does not: what its rounds hold, when they should move on, and what keeps them. Without a chain there are only notes.
 */
export function RoundLanes({ status }: { status: Status }) {
  const { read, nowMs, chain } = usePage();
  const core = findAvailable(read('core', corePath));
  const issuance = findAvailable(read('issuance', issuancePath));
  const rounds =
    core === null
      ? []
      : listStagedRounds(
          {
            core,
            oracle: status.oracle,
            mintedThroughRound: issuance?.issuance.processedThroughRound ?? null,
            statistics: read('statistics', statisticsPath('7d')),
            nowMs,
          },
          roundsShown,
        );
  const notes: Readonly<Record<RoundStage, ComponentChildren>> = {
    measured: <ToBeClosed oracle={status.oracle} />,
    closed: <ToBeSettled status={status} />,
    settled: <ToBeMinted />,
    minted: null,
  };
  const lanes = roundStages
    .filter((stage) => stage !== 'minted' || issuance !== null)
    .map((stage) => (
      <div key={stage} class={`lane ${stage}`}>
        <h3>{laneNames[stage]}</h3>
        {rounds.length > 0 && <Tiles stage={stage} rounds={rounds} />}
        <p class="lane-note small quiet">
          {rounds.length > 0 && stage !== 'closed' && count(String(listLane(stage, rounds).length), 'round')}
          {notes[stage]}
        </p>
      </div>
    ));
  return (
    <section aria-labelledby="rounds">
      <h2 id="rounds">Round by round</h2>
      {rounds.length === 0 ? (
        <div class="lanes">{lanes}</div>
      ) : (
        <>
          <p class="lead">
            Each tile is a round of ten minutes, of the last four hours. It moves down as its work is closed,
            settled on {nameChain(chain)} and minted for.
          </p>
          <Chart
            id="rounds"
            class="lanes"
            label={`The newest ${rounds.length} rounds and their stages`}
            texts={rounds.map(describeRound)}
          >
            {lanes}
          </Chart>
        </>
      )}
    </section>
  );
}

const laneNames: Readonly<Record<RoundStage, string>> = {
  measured: 'Measured',
  closed: 'Closed',
  settled: 'Settled',
  minted: 'Minted',
};

const listLane = (stage: RoundStage, rounds: readonly StagedRound[]) =>
  rounds.filter((one) => one.stage === stage);

function Tiles({ stage, rounds }: { stage: RoundStage; rounds: readonly StagedRound[] }) {
  // The open round is at the right edge, even if there are few before it.
  const left = (rounds.length - roundsShown) * tile;
  return (
    <svg
      viewBox={`${left} 0 ${roundsShown * tile} ${tile}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={describeLane(stage, rounds)}
      {...cells(roundsShown, rounds.length - roundsShown)}
    >
      <path class="track" d={`M${left} ${tile - 0.5}H${rounds.length * tile}`} />
      {rounds.map(
        ({ round, stage: own, isOpen, isMissing }, index) =>
          own === stage && (
            <rect
              key={round}
              class={`tile ${isOpen ? 'open' : ''}`}
              x={index * tile + 0.75}
              y="0.5"
              width={tile - 1.5}
              height={tile - 1}
              fill={isMissing ? 'url(#hatching)' : undefined}
            />
          ),
      )}
    </svg>
  );
}

function ToBeClosed({ oracle: { state, reason, latestClosure } }: Pick<Status, 'oracle'>) {
  return (
    <>
      {state !== 'accepted' && (
        <Alert>
          The oracle {oracleStates[state] ?? state}
          {state === 'blocked' && reason !== null && `: “${reason}”`}.
        </Alert>
      )}
      {latestClosure !== null && (
        <>
          {' '}
          · last closed: <To {...toRound(latestClosure.lastRound)} />,{' '}
          <Time at={latestClosure.acceptedAt} as="ago" />
        </>
      )}
    </>
  );
}

function ToBeSettled({ status }: { status: Status }) {
  const { read, chain } = usePage();
  const queue = status.settlementQueue;
  if (queue.status === 'unavailable') return <> {explainProjection(queue.reason, status, chain)}</>;
  const { buffered, blockedReason, state, latestSubmission: submission, lastRun } = queue;
  const core = findAvailable(read('core', corePath));
  const words = queueStates[state];
  const batchTimes = (core?.events ?? []).flatMap(({ eventName, blockTimestamp }) =>
    eventName === 'BatchSettled' ? [new Date(Number(blockTimestamp) * 1000).toISOString()] : [],
  );
  return (
    <>
      {count(buffered.roundCount, 'round')}
      {buffered.firstRound !== null && (
        <>
          {' '}
          from <To {...toRound(buffered.firstRound)} /> on, {formatInteger(buffered.workUnits)} units
        </>
      )}
      {words !== undefined && (
        <Alert>
          {words.title}. {blockedReason === null ? words.meaning : explain(blockedReason)}
          {state === 'stale' && lastRun !== null && (
            <>
              {' '}
              Its last run ended <Time at={lastRun.finishedAt} as="ago" />.
            </>
          )}
        </Alert>
      )}
      {submission !== null && submission.lifecycle !== 'confirmed' && (
        <LatestSubmission submission={submission} />
      )}
      {core !== null && <Expected what="a batch" times={batchTimes} />}
    </>
  );
}

function ToBeMinted() {
  const settlements = usePage().read('settlements', settlementsPath('now'));
  if (settlements === null) return null;
  const { mining } = settlements.status === 'available' ? settlements : { mining: settlements };
  if (mining.status === 'unavailable') return <> {explain(mining.reason)}</>;
  const { nextRound, economy, recentCheckpoints } = mining;
  const whyNothing = explainNoMint(mining);
  return (
    <>
      <Expected what="a mint" times={recentCheckpoints.map(({ blockTimestamp }) => blockTimestamp)} />
      {whyNothing === null ? (
        <>
          {' · a mint now would be '}
          <strong>
            {formatShort(nextRound.amountBaseUnits, economy.decimals, 2)} {economy.symbol}
          </strong>{' '}
          for {count(nextRound.completedBlockCount, 'work block')}, through round{' '}
          <To {...toRound(nextRound.countedThroughRound)} />
        </>
      ) : (
        `. ${whyNothing}`
      )}
    </>
  );
}

function Alert({ children }: { children: ComponentChildren }) {
  return (
    <>
      {' '}
      <strong class="alert">{children}</strong>
    </>
  );
}

interface ExpectedProps {
  readonly what: string;
  readonly times: readonly string[];
  /** Shown while it has not happened often enough. */
  readonly children?: ComponentChildren;
}

/** When rounds are expected to move on, by how often that has happened. */
export function Expected({ what, times, children = null }: ExpectedProps) {
  const nowMs = usePage().nowMs;
  const next = expectNext(times);
  if (next === null) return <>{children}</>;
  const { usualMs, nextMs } = next;
  const when = nextMs > nowMs ? `about every ${formatDuration(usualMs / 1000)}, the next` : 'was expected';
  return (
    <>
      {` · ${what} ${when} about `}
      <Time at={new Date(nextMs).toISOString()} as="minute" />
    </>
  );
}

const stageWords: Readonly<Record<RoundStage, string>> = {
  measured: 'measured, not closed by the oracle yet',
  closed: 'closed, waits to be settled',
  settled: 'settled, waits for the next mint',
  minted: 'settled and minted for',
};

function describeRound({ round, startAt, stage, isOpen, isMissing }: StagedRound): string {
  const endAt = new Date(Date.parse(startAt) + roundMs).toISOString();
  const state = isOpen ? 'open, being measured' : stageWords[stage];
  return `Round ${formatInteger(round)}, ${time('hour', startAt)}–${time('hour', endAt)} ${time('zone')}: ${state}${isMissing ? '; its half hour was not observed' : ''}`;
}

function describeLane(stage: RoundStage, rounds: readonly StagedRound[]): string {
  const own = listLane(stage, rounds);
  const [first, last] = [own[0], own.at(-1)];
  if (first === undefined || last === undefined)
    return `${laneNames[stage]}: no round of the newest ${rounds.length}`;
  return `${laneNames[stage]}: rounds ${formatInteger(first.round)} to ${formatInteger(last.round)}`;
}
