import { addDays, findDaySpan, formatDate } from '../../../addresses/days.ts';
import { formatPlace } from '../../../addresses/place.ts';
import { DayChart } from '../../charts/DayChart.tsx';
import { findAvailable, Unread } from '../../components/Available.tsx';
import { Figure, Figures } from '../../components/Figure.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { citeDay, nameCoverage } from '../../format/citation.ts';
import { count, formatInteger, formatPercent } from '../../format/numbers.ts';
import { describeDistance, describeWork } from '../../format/quantities.ts';
import type { Bodies } from '../../page.ts';
import { corePath, issuancePath, recordPath, statisticsPath } from '../../resources.ts';
import { findGenesisMs, roundMs } from '../../rounds.ts';

type Day = Bodies['day']['day'];

export function DayFacts({ date }: { date: string }) {
  const page = usePage();
  const { read, nowMs } = page;
  const statistics = read('statistics', statisticsPath('30d'));
  const [startMs, endMs] = findDaySpan(date);
  const day = read('day', recordPath('day', date))?.day ?? null;
  const state =
    endMs > nowMs
      ? ' It has not ended yet.'
      : day?.coverage.observedRoundCount === 0 && day.distanceMm === null
        ? ' It was not observed, so the wheel’s work is unknown.'
        : '';
  return (
    <>
      <p class="lead">
        The universal day from <Time at={new Date(startMs).toISOString()} as="minute" /> to{' '}
        <Time at={new Date(endMs).toISOString()} as="minute" />.{state}
      </p>
      {day === null || statistics === null ? (
        <Unread what="The day" />
      ) : (
        <>
          <DayFigures day={day} />
          <Stage date={date} />
          <section aria-labelledby="half-hours">
            <h2 id="half-hours">Half hour by half hour</h2>
            {day.coverage.expectedRoundCount === 0 ? (
              <p class="empty">There were no rounds yet on this day.</p>
            ) : (
              <DayChart statistics={statistics} day={day} />
            )}
          </section>
        </>
      )}
      {day !== null && (
        <section aria-labelledby="cite">
          <h2 id="cite">How to cite it</h2>
          <blockquote class="citation">{citeDay(page, day)}</blockquote>
        </section>
      )}
    </>
  );
}

/** How far the rounds of a day have come. */
function Stage({ date }: { date: string }) {
  const { read } = usePage();
  const core = findAvailable(read('core', corePath));
  const genesisMs = findGenesisMs(core);
  if (core === null || genesisMs === null) return null;
  const [first, last] = findDaySpan(date).map((atMs) => Math.max(0, (atMs - genesisMs) / roundMs)) as [
    number,
    number,
  ];
  const issuance = findAvailable(read('issuance', issuancePath));
  const describe = (through: string, what: string) => {
    const part = Math.min(Math.max(Number(through) - first, 0), last - first);
    return part === last - first ? `all are ${what}` : `${formatInteger(part)} are ${what}`;
  };
  return last <= first ? null : (
    <p class="lead">
      Of its {count(String(last - first), 'round')}, {describe(core.core.settledThroughRound, 'settled')}
      {issuance !== null && ` and ${describe(issuance.issuance.processedThroughRound, 'minted')}`}.
    </p>
  );
}

function DayFigures({ day }: { day: Day }) {
  const { coverage, distanceMm, observedWorkUnits } = day;
  return (
    <Figures isLarge route={recordPath('day', day.date)}>
      <Figure
        {...describeDistance(distanceMm)}
        label="Distance"
        field="day.distanceMm"
        meaning="The largest distance the device reported on this day, counted from noon. Kept for a year."
      />
      <Figure
        {...describeWork(coverage.observedRoundCount === 0 ? null : observedWorkUnits)}
        label="Work"
        field="day.observedWorkUnits"
        meaning="Work of the fully observed rounds."
        provenance="accepted rounds"
      />
      <Figure
        label="Observed"
        value={formatPercent(coverage.coverageBps)}
        field="day.coverage"
        exact={nameCoverage(day)}
        meaning="Fully observed rounds of the day. Work in other rounds is unknown, not zero."
      >
        {nameCoverage(day)}
      </Figure>
    </Figures>
  );
}

export function Neighbours({ date }: { date: string }) {
  const { read, nowMs } = usePage();
  const first = read('statistics', statisticsPath('30d'))?.lifetime.firstObservedAt ?? null;
  const genesisMs = findGenesisMs(read('core', corePath));
  const firstMs = Math.min(genesisMs ?? Infinity, first === null ? Infinity : Date.parse(first));
  const [startMs, endMs] = findDaySpan(date);
  return (
    <nav class="choice" aria-label="Neighbours">
      {startMs > firstMs && (
        <a href={formatPlace({ view: 'day', id: addDays(date, -1) })}>← {formatDate(addDays(date, -1))}</a>
      )}
      {endMs <= nowMs && (
        <a href={formatPlace({ view: 'day', id: addDays(date, 1) })}>{formatDate(addDays(date, 1))} →</a>
      )}
      <a href="/statistics?range=30d">The last 30 days</a>
    </nav>
  );
}
