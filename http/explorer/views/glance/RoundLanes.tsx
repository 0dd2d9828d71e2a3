import type { ComponentChildren } from 'preact';
import { listBatches } from '../../batches.ts';
import { Chart, cells } from '../../charts/Chart.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { count, formatInteger } from '../../format/numbers.ts';
import { formatDuration } from '../../format/times.ts';
import { time } from '../../format/timeTexts.ts';
import type { Bodies } from '../../page.ts';
import {
  expectNext,
  listStagedRounds,
  type RoundStage,
  roundStages,
  type StagedRound,
} from '../../roundStages.ts';
import { roundMs } from '../../rounds.ts';

const roundsShown = 24;
const tile = 10;

interface RoundLanesProps {
  readonly status: Bodies['status'];
  readonly core: Bodies['core'] | null;
  readonly issuance: Bodies['issuance'] | null;
  readonly settlements: Bodies['settlements'] | null;
  readonly statistics: Bodies['statistics'] | null;
}

/** The newest rounds as tiles, each in the lane of its stage: with time, every tile moves from lane to lane. Nothing without a chain. */
export function RoundLanes({ status, core, issuance, settlements, statistics }: RoundLanesProps) {
  const { renderedAtMs: nowMs } = usePage();
  if (core?.status !== 'available') return null;
  const rounds = listStagedRounds(
    {
      core,
      oracle: status.oracle,
      mintedThroughRound: issuance?.status === 'available' ? issuance.issuance.processedThroughRound : null,
      statistics,
      nowMs,
    },
    roundsShown,
  );
  if (rounds.length === 0) return null;
  const mining = settlements?.status === 'available' ? settlements.mining : null;
  const checkpoints = mining?.status === 'available' ? mining.recentCheckpoints : [];
  const expected: Partial<Record<RoundStage, ComponentChildren>> = {
    closed: <Expected what="settled" times={listBatches(core).map(({ at }) => at)} nowMs={nowMs} />,
    settled: (
      <Expected
        what="minted for"
        times={checkpoints.map(({ blockTimestamp }) => blockTimestamp)}
        nowMs={nowMs}
      />
    ),
  };
  const lanes = issuance?.status === 'available' ? roundStages : roundStages.slice(0, -1);
  return (
    <Chart
      id="rounds"
      class="lanes"
      label={`The newest ${rounds.length} rounds and their stages`}
      texts={rounds.map(describeRound)}
    >
      {lanes.map((stage) => (
        <div key={stage} class={`lane ${stage}`}>
          <h3>{laneNames[stage]}</h3>
          <Tiles stage={stage} rounds={rounds} />
          <p class="lane-note small quiet">
            {count(String(rounds.filter((one) => one.stage === stage).length), 'round')}
            {expected[stage]}
          </p>
        </div>
      ))}
    </Chart>
  );
}

const laneNames: Readonly<Record<RoundStage, string>> = {
  measured: 'Measured',
  closed: 'Closed',
  settled: 'Settled',
  minted: 'Minted',
};

function Tiles({ stage, rounds }: { stage: RoundStage; rounds: readonly StagedRound[] }) {
  return (
    <svg
      viewBox={`0 0 ${rounds.length * tile} ${tile}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={describeLane(stage, rounds)}
      {...cells(rounds.length)}
    >
      <path class="track" d={`M0 ${tile - 0.5}H${rounds.length * tile}`} />
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

/** When the rounds of a lane are expected to move on, by how often that has happened. */
function Expected({ what, times, nowMs }: { what: string; times: readonly string[]; nowMs: number }) {
  const next = expectNext(times);
  if (next === null) return null;
  const at = <Time at={new Date(next.nextMs).toISOString()} as="minute" />;
  return next.nextMs > nowMs ? (
    <>
      {' '}
      · usually {what} every {formatDuration(next.usualMs / 1000)}, next about {at}
    </>
  ) : (
    <>
      {' '}
      · to be {what} since about {at}, later than usual
    </>
  );
}

const stageWords: Readonly<Record<RoundStage, string>> = {
  measured: 'measured, not closed by the oracle yet',
  closed: 'closed, waits to be settled',
  settled: 'settled on Ethereum, waits for the next mint',
  minted: 'settled and minted for',
};

function describeRound({ round, startAt, stage, isOpen, isMissing }: StagedRound): string {
  const endAt = new Date(Date.parse(startAt) + roundMs).toISOString();
  const state = isOpen ? 'open, being measured' : stageWords[stage];
  return `Round ${formatInteger(round)}, ${time('hour', startAt)}–${time('hour', endAt)} ${time('zone')}: ${state}${isMissing ? '; its half hour was not observed' : ''}`;
}

function describeLane(stage: RoundStage, rounds: readonly StagedRound[]): string {
  const own = rounds.filter((one) => one.stage === stage);
  const [first, last] = [own[0], own.at(-1)];
  if (first === undefined || last === undefined)
    return `${laneNames[stage]}: no round of the newest ${rounds.length}`;
  return `${laneNames[stage]}: rounds ${formatInteger(first.round)} to ${formatInteger(last.round)}`;
}
