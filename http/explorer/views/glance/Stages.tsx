import type { ComponentChildren } from 'preact';
import { Chart, cells } from '../../charts/Chart.tsx';
import { Available, findAvailable } from '../../components/Available.tsx';
import { NextBatch, NextMint, useMining } from '../../components/Expected.tsx';
import { Figure, Figures } from '../../components/Figure.tsx';
import { To } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Age, Time } from '../../components/Time.tsx';
import { TransactionLink } from '../../components/TransactionLink.tsx';
import { count, formatExact, formatInteger, formatShort } from '../../format/numbers.ts';
import { describeAmount, describeCount, describeDistance, describeWork } from '../../format/quantities.ts';
import { countBlocks, describeRewards } from '../../format/rewards.ts';
import { toOwner, toRound } from '../../format/sentence.ts';
import { formatDuration, time } from '../../format/times.ts';
import { explain, explainNoMint, explainProjection } from '../../format/words.ts';
import type { Bodies } from '../../page.ts';
import {
  corePath,
  issuancePath,
  listOwnerPaths,
  settlementsPath,
  statisticsPath,
  statusPath,
} from '../../resources.ts';
import { listStagedRounds, type RoundStage, type StagedRound } from '../../roundStages.ts';
import { findGenesisMs, roundMs } from '../../rounds.ts';
import { describeWhatItIs } from '../../wheelState.ts';
import { LatestSubmission } from '../settlements/LatestSubmission.tsx';

interface StagesProps {
  readonly status: Bodies['status'];
}

const roundsShown = 24;
const tile = 10;

/**
 * The four stages of the contract, side by side and never added up. The newest rounds are tiles, each in the lane of its stage: with time, every
 * tile moves from lane to lane. While the chain cannot be read, the lanes are hatched.
 */
export function Stages({ status }: StagesProps) {
  const { read, nowMs, chain } = usePage();
  const core = findAvailable(read('core', corePath));
  const issuance = findAvailable(read('issuance', issuancePath));
  const statistics = read('statistics', statisticsPath('7d'));
  const mintedThroughRound = issuance?.issuance.processedThroughRound ?? null;
  const sources = core && { core, oracle: status.oracle, mintedThroughRound, statistics, nowMs };
  const rounds = sources === null ? [] : listStagedRounds(sources, roundsShown);
  const shared = { rounds, owner: useOwner(status) };
  const lanes = (
    <ol class="lanes">
      <Lane stage="measured" meaning="counted by the device" {...shared} note={<OpenRound status={status} />}>
        <Measured statistics={statistics} />
      </Lane>
      <Lane stage="optimistic" meaning="would settle next" {...shared} note={<ToBeSettled status={status} />}>
        <Optimistic status={status} />
      </Lane>
      <Lane stage="settled" meaning="recorded on the chain" {...shared} note={<ToBeMinted />}>
        <Settled status={status} />
      </Lane>
      <Lane stage="issued" meaning="minted for it" {...shared} note={<MintedThrough />}>
        <Issued />
      </Lane>
    </ol>
  );
  return (
    <section aria-labelledby="stages">
      <h2 id="stages">From a turn to a token</h2>
      <p class="lead">{describeWhatItIs(chain)} The four stages are of the same work: do not add them up.</p>
      <Owner owner={shared.owner} />
      {rounds.length === 0 ? (
        lanes
      ) : (
        <Chart id="rounds" class="rounds" texts={rounds.map(describeRound)}>
          {lanes}
        </Chart>
      )}
    </section>
  );
}

/** The owner whose tokens the page shows, with what is known of them; null without one. */
function useOwner(status: Bodies['status']) {
  const { place, read } = usePage();
  const mining = useMining();
  const address = place.view === 'glance' ? place.owner : undefined;
  if (address === undefined) return null;
  const route = listOwnerPaths(address).positions;
  const body = read('portfolio', route);
  const portfolio = findAvailable(body);
  const rewards = portfolio && describeRewards(portfolio, mining, countBlocks(status));
  return { address, route, body, portfolio, rewards };
}

interface OwnerProps {
  readonly owner: ReturnType<typeof useOwner>;
}

/** Whose tokens the page shows, and why there are none. */
function Owner({ owner }: OwnerProps) {
  return (
    owner && (
      <>
        <p>
          Your tokens: owner <To {...toOwner(owner.address)} /> · <a href="/">Remove</a>
        </p>
        <Available what="Its tokens" body={owner.body}>
          {({ summary }) =>
            summary.positionCount === '0' && (
              <p class="empty">This address owns no miner at the safe block.</p>
            )
          }
        </Available>
      </>
    )
  );
}

/** The owner's tokens in a stage. What is not known is not shown. */
function Own({ stage, owner }: OwnerProps & { stage: RoundStage }) {
  if (owner?.rewards == null) return null;
  const { paid, claimable, ...stages } = owner.rewards;
  const figures =
    stage === 'issued'
      ? [
          { ...paid, label: 'Paid to you' },
          { ...claimable, label: 'Claimable' },
        ]
      : [{ ...stages[stage], label: 'For you', value: stages[stage].value?.replace(/^\d/, '+$&') ?? null }];
  return (
    <Figures route={owner.route} safeBlock={owner.portfolio?.chain.safeThroughBlock ?? null}>
      {figures.map((figure) => figure.value !== null && <Figure key={figure.label} {...figure} />)}
    </Figures>
  );
}

interface LaneProps extends OwnerProps {
  readonly stage: RoundStage;
  readonly meaning: string;
  /** The newest rounds of all stages. */
  readonly rounds: readonly StagedRound[];
  /** The work of its rounds, when they should move on, and what delays them. */
  readonly note: ComponentChildren;
  readonly children: ComponentChildren;
}

function Lane({ stage, meaning, rounds, owner, note, children }: LaneProps) {
  return (
    <li class={`lane ${stage}`}>
      <div>
        <h3>{stage}</h3>
        <p class="small quiet">{meaning}</p>
      </div>
      <div>
        {children}
        <Own {...{ stage, owner }} />
      </div>
      <div>
        <Tiles stage={stage} rounds={rounds} />
        <p class="small quiet">{note}</p>
      </div>
    </li>
  );
}

function Tiles({ stage, rounds }: Pick<LaneProps, 'stage' | 'rounds'>) {
  const own = rounds.filter((round) => round.stage === stage);
  const [first, last] = [own[0], own.at(-1)];
  const label =
    rounds.length === 0
      ? 'Its newest rounds are unknown'
      : first === undefined || last === undefined
        ? `None of the newest ${rounds.length} rounds`
        : `Rounds ${formatInteger(first.round)} to ${formatInteger(last.round)}`;
  // The open round is at the right edge, even if there are few before it.
  const left = rounds.length === 0 ? 0 : (rounds.length - roundsShown) * tile;
  return (
    <svg
      viewBox={`${left} 0 ${roundsShown * tile} ${tile}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      {...cells(roundsShown, rounds.length - roundsShown)}
    >
      {rounds.length === 0 && <rect width="100%" height="100%" fill="url(#hatching)" />}
      <path class="grid" d={`M${left} ${tile - 0.5}H${left + roundsShown * tile}`} />
      {rounds.map(
        (round, index) =>
          round.stage === stage && <Tile key={round.round} round={round} x={index * tile + 0.75} />,
      )}
    </svg>
  );
}

/** A round. The open one fills with its time (`browser/times.ts`). */
function Tile({ round: { isOpen, isMissing, startAt }, x }: { round: StagedRound; x: number }) {
  const [width, height] = [tile - 1.5, tile - 1];
  const startMs = Date.parse(startAt);
  const elapsed = (usePage().nowMs - startMs) / roundMs;
  const fill = isMissing ? 'url(#hatching)' : undefined;
  return (
    <>
      <rect class={isOpen ? 'tile open' : 'tile'} {...{ x, width, height, fill }} y="0.5" />
      {isOpen && (
        <path
          class="elapsed"
          d={`M${x} ${tile / 2}h${width}`}
          pathLength="1"
          stroke-dasharray={`${elapsed.toFixed(4)} 1`}
          data-since={startAt}
          data-until={new Date(startMs + roundMs).toISOString()}
        />
      )}
    </>
  );
}

/** The open round with its remaining time and its work, or why no round is open: there is no contract, or its genesis is still to come. */
function OpenRound({ status }: StagesProps) {
  const { read, nowMs, expireAt, chain } = usePage();
  const core = read('core', corePath);
  const genesisMs = findGenesisMs(core);
  // Every genesis is at a whole half hour, so rounds begin at the same times.
  const endMs = Math.floor(nowMs / roundMs) * roundMs + roundMs;
  expireAt(endMs);
  if (core?.status === 'unavailable' && core.reason === 'indexer_disabled')
    return <>No round is open. {explain(core.reason)}</>;
  if (genesisMs !== null && nowMs < genesisMs)
    return (
      <>
        No round is open yet. The first one begins <Time at={new Date(genesisMs).toISOString()} as="minute" />
        .
      </>
    );
  return (
    <>
      Round{' '}
      {genesisMs === null ? '(number unknown)' : <To {...toRound(String((endMs - genesisMs) / roundMs))} />}{' '}
      is open for another{' '}
      <strong data-remaining={new Date(endMs).toISOString()}>{formatDuration((endMs - nowMs) / 1000)}</strong>
      .{' '}
      {status.builder.status === 'available'
        ? `${count(status.builder.queued.openRoundWorkUnits, 'unit')} since the last closed round.`
        : explainProjection(status.builder.reason, status, chain)}
    </>
  );
}

function Measured({ statistics }: { statistics: Bodies['statistics'] | null }) {
  const {
    acceptedWorkUnits = null,
    coverageBps = 0,
    observedDistanceMm = null,
    firstObservedAt = null,
  } = statistics?.lifetime ?? {};
  // Without an observed round, the sum 0 is not a measurement.
  const total = acceptedWorkUnits === '0' && coverageBps === 0 ? null : acceptedWorkUnits;
  return (
    <Figures route={statisticsPath('7d')}>
      <Figure
        label="Work in observed rounds"
        {...describeWork(total)}
        field="lifetime.acceptedWorkUnits"
        meaning="Work of all fully observed rounds since the first accepted reading. Work in gaps is unknown and not included."
      />
      <Figure
        label="Distance in all"
        {...describeDistance(firstObservedAt === null ? null : observedDistanceMm)}
        field="lifetime.observedDistanceMm"
        meaning="Sum of the daily distances since the first accepted reading. Distance while the device was offline is not included."
      />
    </Figures>
  );
}

function Optimistic({ status: { builder } }: StagesProps) {
  const projected = builder.status === 'available' ? builder.projected : null;
  return (
    <Figures route={statusPath}>
      <Figure
        label="Would complete"
        {...describeCount(projected?.completedBlockCount ?? null, 'work block')}
        field="builder.projected.completedBlockCount"
        meaning="Work blocks that the rounds waiting for settlement would complete, by the contract’s arithmetic."
      />
      <Figure
        label="Would reach work block"
        value={projected && formatShort(projected.cumulativeBlockUnits, 9, 3)}
        field="builder.projected.cumulativeBlockUnits"
        exact={projected && `${formatExact(projected.cumulativeBlockUnits, 9)} work blocks`}
        meaning="Height with the progress into the next work block."
      />
    </Figures>
  );
}

function ToBeSettled({ status }: StagesProps) {
  const { chain } = usePage();
  const queue = status.settlementQueue;
  const { latestClosure } = status.oracle;
  if (queue.status === 'unavailable') return <>{explainProjection(queue.reason, status, chain)}</>;
  const { buffered, latestSubmission: submission } = queue;
  return (
    <>
      {buffered.roundCount === '0'
        ? 'No closed round waits'
        : `${count(buffered.roundCount, 'closed round')} with ${count(buffered.workUnits, 'unit')}`}
      {latestClosure !== null && (
        <>
          , the last one closed <Age of={latestClosure.acceptedAt} />
        </>
      )}
      .
      <NextBatch />
      {submission !== null && submission.lifecycle !== 'confirmed' && (
        <LatestSubmission submission={submission} />
      )}
    </>
  );
}

function Settled({ status: { builder } }: StagesProps) {
  const shown = findAvailable(usePage().read('core', corePath));
  const core = shown?.core ?? null;
  const anchor = builder.status === 'available' ? builder.anchor : null;
  return (
    <Figures route={corePath} safeBlock={shown?.chain.safeThroughBlock ?? null}>
      <Figure
        label="Settled work"
        {...describeWork(core?.cumulativeWork ?? null)}
        field="core.cumulativeWork"
        meaning="Work of all rounds that a confirmed batch has settled."
      >
        {core !== null && (
          <>
            through round <To {...toRound(core.settledThroughRound)} />
            {anchor?.transactionHash && (
              <>
                , <TransactionLink hash={anchor.transactionHash} />
              </>
            )}
          </>
        )}
      </Figure>
      <Figure
        label="Work block height"
        value={core && formatShort(core.cumulativeBlockUnits, 9, 3)}
        field="core.cumulativeBlockUnits"
        exact={core && `${formatExact(core.cumulativeBlockUnits, 9)} work blocks`}
        meaning="Blocks of the wheel’s work, not blocks of the chain: complete ones, and the part of the next one."
      />
    </Figures>
  );
}

function ToBeMinted() {
  const { read } = usePage();
  const core = read('core', corePath);
  const settlements = read('settlements', settlementsPath('now'));
  if (core?.status === 'unavailable') return <>{explain(core.reason)}</>;
  if (settlements === null) return null;
  const { mining } = settlements.status === 'available' ? settlements : { mining: settlements };
  if (mining.status === 'unavailable') return <>{explain(mining.reason)}</>;
  const { nextRound, economy } = mining;
  return (
    <>
      {explainNoMint(mining) ?? (
        <>
          A mint now would be{' '}
          <strong>
            {formatShort(nextRound.amountBaseUnits, economy.decimals, 2)} {economy.symbol}
          </strong>{' '}
          for {count(nextRound.completedBlockCount, 'work block')}, through round{' '}
          <To {...toRound(nextRound.countedThroughRound)} />.
        </>
      )}
      <NextMint mining={mining} />
    </>
  );
}

function Issued() {
  const shown = findAvailable(usePage().read('issuance', issuancePath));
  const asset = shown?.asset ?? null;
  return (
    <Figures route={issuancePath} safeBlock={shown?.chain.safeThroughBlock ?? null}>
      <Figure
        label="Minted"
        {...describeAmount(shown?.issuance.mintedBaseUnits, asset, 2)}
        field="issuance.mintedBaseUnits"
        meaning="Reward tokens that checkpoints have minted, round by round. Owners claim them afterwards."
      />
      <Figure
        label="Paid to owners"
        {...describeAmount(shown?.issuance.paidBaseUnits, asset, 2)}
        field="issuance.paidBaseUnits"
        meaning="Part that owners have claimed."
      />
    </Figures>
  );
}

function MintedThrough() {
  const body = usePage().read('issuance', issuancePath);
  const mining = useMining();
  const last = mining?.recentCheckpoints[0];
  if (body === null) return null;
  if (body.status === 'unavailable') return <>{explain(body.reason)}</>;
  const { symbol, decimals } = body.asset;
  return (
    <>
      Minted through round <To {...toRound(body.issuance.processedThroughRound)} />
      {last !== undefined && (
        <>
          , the last {formatShort(last.amountBaseUnits, decimals, 2)} {symbol} on{' '}
          <Time at={last.blockTimestamp} as="minute" /> (<TransactionLink hash={last.transactionHash} />)
        </>
      )}
      .{' '}
      {mining !== null &&
        `A work block mints ${formatShort(mining.rewardPerBlock, decimals, 2)} ${symbol} if a miner is active in its round.`}
    </>
  );
}

const stageWords: Readonly<Record<RoundStage, string>> = {
  measured: 'measured, not closed by the oracle yet',
  optimistic: 'closed, waits to be settled',
  settled: 'settled, waits for the next mint',
  issued: 'settled, and its tokens are minted',
};

function describeRound({ round, startAt, stage, isOpen, isMissing }: StagedRound): string {
  const endAt = new Date(Date.parse(startAt) + roundMs).toISOString();
  const state = isOpen ? 'open, being measured' : stageWords[stage];
  return `Round ${formatInteger(round)}, ${time('hour', startAt)}–${time('hour', endAt)} ${time('zone')}: ${state}${isMissing ? '; its half hour was not observed' : ''}`;
}
