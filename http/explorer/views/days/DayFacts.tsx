import { DayChart } from '../../charts/DayChart.tsx';
import { findTime } from '../../charts/halfHours.ts';
import { Unread } from '../../components/Banner.tsx';
import { Figure } from '../../components/Figure.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { addDays, findDaySpan } from '../../days.ts';
import { formatInteger, formatPercent } from '../../format/numbers.ts';
import { describeDistance, describeWork } from '../../format/quantities.ts';
import { formatClock, formatDate } from '../../format/times.ts';
import type { Bodies } from '../../page.ts';
import { formatPlace } from '../../place.ts';
import { corePath, statisticsPath, statusPath, yearPath } from '../../resources.ts';
import { Records } from '../statistics/Records.tsx';

const noon = 720;
/** Days that the service shows one by one. */
const yearDays = 365;

type Day = Bodies['year']['days'][number];

/** Distance, work and coverage of one universal day, and its half hours. */
export function DayFacts({ date }: { date: string }) {
  const { read, renderedAtMs } = usePage();
  const year = read('year', yearPath);
  const statistics = read('statistics', statisticsPath('30d'));
  const [, endMs] = findDaySpan(date);
  const day = year?.days.find((one) => one.date === date);
  const state =
    endMs > renderedAtMs
      ? ' It has not ended yet.'
      : day?.coverage.observedRoundCount === 0 && day.distanceMm === null
        ? ' It was not observed, so what the wheel did is unknown.'
        : '';
  return (
    <>
      <p class="lead">
        The universal day from <Time at={findTime(date, noon)} as="minute" /> to{' '}
        <Time at={new Date(endMs).toISOString()} as="minute" />.{state}
      </p>
      {year === null ? (
        <Unread what="The day" />
      ) : day === undefined ? (
        <p class="empty">
          {year.days.length < yearDays
            ? 'Nothing is known of this day: the first round began later.'
            : `Figures of days are shown for a year, and this day is earlier.`}
        </p>
      ) : (
        <Figures day={day} />
      )}
      <HalfHours date={date} statistics={statistics} />
      {statistics !== null && (
        <Records statistics={statistics} title="Records of the last 30 days that fell on it" date={date} />
      )}
    </>
  );
}

/** How to cite a day, and the way to others. */
export function DayEnd({ date }: { date: string }) {
  const day = usePage()
    .read('year', yearPath)
    ?.days.find((one) => one.date === date);
  return (
    <>
      {day !== undefined && <Citation day={day} />}
      <Neighbours date={date} />
    </>
  );
}

function Figures({ day }: { day: Day }) {
  const { coverage, distanceMm, observedWorkUnits } = day;
  const common = { size: 'large', route: yearPath } as const;
  return (
    <div class="figures wide">
      <Figure
        {...common}
        {...describeDistance(distanceMm)}
        label="Distance"
        field="days.distanceMm"
        meaning="The largest distance that the device reported on this day, which it counts from noon."
      />
      <Figure
        {...common}
        {...describeWork(coverage.observedRoundCount === 0 ? null : observedWorkUnits)}
        label="Work"
        field="days.observedWorkUnits"
        meaning="Work of the rounds that were observed without a gap."
        provenance="accepted rounds"
      />
      <Figure
        {...common}
        label="Observed"
        value={formatPercent(coverage.coverageBps)}
        field="days.coverage"
        exact={nameCoverage(day)}
        meaning="Rounds of the day that were observed from beginning to end. What was not observed is unknown, not zero."
      >
        {nameCoverage(day)}
      </Figure>
    </div>
  );
}

function HalfHours({ date, statistics }: { date: string; statistics: Bodies['statistics'] | null }) {
  const day = statistics?.activity.days.find((one) => one.date === date);
  return (
    <section aria-labelledby="half-hours">
      <h2 id="half-hours">Half hour by half hour</h2>
      {statistics === null ? (
        <Unread what="Half hours" />
      ) : day === undefined ? (
        <p class="empty">Half hours are shown for the last 30 days, and this day is earlier.</p>
      ) : (
        <DayChart statistics={statistics} day={day} file={`/tables/day.csv?date=${date}`} />
      )}
    </section>
  );
}

/** A sentence to quote, with the time of reading and the address. */
function Citation({ day }: { day: Day }) {
  const { read, renderedAtMs, settings, place } = usePage();
  const wheel = read('status', statusPath)?.installationId;
  const { date, coverage, distanceMm, observedWorkUnits } = day;
  const { exact } = describeDistance(distanceMm);
  const work = coverage.observedRoundCount === 0 ? null : formatInteger(observedWorkUnits);
  const readAt = new Date(renderedAtMs).toISOString();
  const address = `${settings.publicUrl ?? ''}${formatPlace(place)}`;
  return (
    <section aria-labelledby="cite">
      <h2 id="cite">How to cite it</h2>
      <blockquote class="citation">
        Mining activity{wheel === undefined ? '' : ` of ${wheel}`}, universal day of {formatDate(date)} (noon
        to noon, UTC): distance {exact ?? 'unknown'}, work {work === null ? 'unknown' : `${work} units`},{' '}
        {nameCoverage(day)}. {address}, read on {formatDate(readAt)} at{' '}
        {formatClock(readAt, 'UTC').slice(0, 5)} UTC.
      </blockquote>
    </section>
  );
}

function Neighbours({ date }: { date: string }) {
  const { read, renderedAtMs } = usePage();
  const core = read('core', corePath);
  const first = read('statistics', statisticsPath('30d'))?.lifetime.firstObservedAt ?? null;
  const genesisMs = core?.status === 'available' ? Number(core.configuration.genesisTimestamp) * 1000 : null;
  const firstMs = Math.min(genesisMs ?? Infinity, first === null ? Infinity : Date.parse(first));
  const [startMs, endMs] = findDaySpan(date);
  return (
    <nav class="choice" aria-label="Neighbours">
      {startMs > firstMs && (
        <a href={formatPlace({ view: 'day', id: addDays(date, -1) })}>{formatDate(addDays(date, -1))}</a>
      )}
      {endMs <= renderedAtMs && (
        <a href={formatPlace({ view: 'day', id: addDays(date, 1) })}>{formatDate(addDays(date, 1))}</a>
      )}
      <a href="/statistics?range=30d">The last 30 days</a>
    </nav>
  );
}

function nameCoverage({ coverage: { observedRoundCount, expectedRoundCount } }: Day): string {
  return `${observedRoundCount} of ${expectedRoundCount} rounds observed`;
}
