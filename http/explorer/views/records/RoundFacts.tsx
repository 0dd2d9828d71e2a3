import { findDay } from '../../../addresses/days.ts';
import { Available, findAvailable } from '../../components/Available.tsx';
import { Figure, Figures } from '../../components/Figure.tsx';
import { To } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { formatInteger } from '../../format/numbers.ts';
import { describeAmount, describeWork } from '../../format/quantities.ts';
import { toDay } from '../../format/sentence.ts';
import type { Bodies } from '../../page.ts';
import { corePath, settlementsPath, statisticsPath, statusPath } from '../../resources.ts';
import { dayMs, findGenesisMs, halfHourMs, roundMs } from '../../rounds.ts';

/** A round's time, its stage, and its work if that is known. */
export function RoundFacts({ round }: { round: string }) {
  return (
    <Available what="The chain" body={usePage().read('core', corePath)}>
      {(core) => <Known round={round} core={core} />}
    </Available>
  );
}

function Known({ round, core }: { round: string; core: Extract<Bodies['core'], { status: 'available' }> }) {
  const { read, nowMs } = usePage();
  const startMs = (findGenesisMs(core) ?? 0) + (Number(round) - 1) * roundMs;
  const endMs = startMs + roundMs;
  const closedThrough = read('status', statusPath)?.oracle.latestClosure?.lastRound ?? null;
  const statistics = read('statistics', statisticsPath('30d'));
  const halfHour = findHalfHour(statistics, startMs);
  const settlements = findAvailable(read('settlements', settlementsPath('now')));
  const minted = settlements?.recentRounds?.find(({ roundId }) => roundId === round)?.sqkMintedBaseUnits;
  const asset = findAvailable(settlements?.mining ?? null)?.economy ?? null;
  const isSettled = BigInt(round) <= BigInt(core.core.settledThroughRound);
  const state = isSettled
    ? 'It is settled on the chain.'
    : startMs > nowMs
      ? 'It has not begun yet.'
      : endMs > nowMs
        ? 'It is open. Its work is being measured.'
        : closedThrough === null || BigInt(closedThrough) < BigInt(round)
          ? 'It has ended. The oracle has not closed it yet.'
          : 'It is closed and waiting for settlement.';
  return (
    <>
      <p class="lead">
        <Time at={new Date(startMs).toISOString()} as="minute" /> to{' '}
        <Time at={new Date(endMs).toISOString()} as="minute" />
        {startMs <= nowMs && (
          <>
            , on the day of <To {...toDay(findDay(startMs))} />
          </>
        )}
        . {state}
      </p>
      <Figures route={settlementsPath('now')}>
        {halfHour !== null && (
          <Figure
            {...describeWork(halfHour.workUnits)}
            label="Work of its half hour"
            route={statisticsPath('30d')}
            field="activity.days.buckets.workUnits"
            meaning="Work is published per half hour, which is three rounds."
          >
            {formatInteger(halfHour.observedRoundCount)} of 3 rounds observed
          </Figure>
        )}
        {minted !== undefined && (
          <Figure
            {...describeAmount(minted, asset, 4)}
            label="Minted for it"
            field="recentRounds.sqkMintedBaseUnits"
          />
        )}
      </Figures>
      <nav class="choice" aria-label="Neighbours">
        {round !== '1' && <a href={`/rounds/${BigInt(round) - 1n}`}>← Round before</a>}
        {endMs <= nowMs && <a href={`/rounds/${BigInt(round) + 1n}`}>Next round →</a>}
      </nav>
    </>
  );
}

/** The half hour with a time in the statistics; null if it is older, later or not known. */
function findHalfHour(statistics: Bodies['statistics'] | null, startMs: number) {
  const date = findDay(startMs);
  const minute = (Math.floor((startMs % dayMs) / halfHourMs) * halfHourMs) / 60_000;
  const day = statistics?.activity.days.find((one) => one.date === date);
  const bucket = day?.buckets.find(({ startMinuteUtc }) => startMinuteUtc === minute);
  return bucket === undefined || bucket.coverage === 'future' ? null : bucket;
}
