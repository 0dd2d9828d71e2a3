import type { StatisticsRange } from '../../../../actors/statistics/statistics.ts';
import { formatDay } from '../../../addresses/days.ts';
import { Columns, Legend } from '../../charts/Columns.tsx';
import { HeatMap } from '../../charts/HeatMap.tsx';
import { classifyDays, findKnown, type Observed } from '../../charts/observed.ts';
import { Unread } from '../../components/Available.tsx';
import { Choice } from '../../components/Choice.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { Figure, Figures } from '../../components/Figure.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { formatInteger, formatPercent } from '../../format/numbers.ts';
import { describeDistance, describeWork } from '../../format/quantities.ts';
import { coverages } from '../../format/words.ts';
import type { Bodies } from '../../page.ts';
import { statisticsPath } from '../../resources.ts';
import { daysTable, halfHoursTable } from '../../tables/tables.ts';
import { Records } from './Records.tsx';

type Statistics = Bodies['statistics'];

const names: Record<StatisticsRange, string> = { '7d': '7 days', '30d': '30 days' };

export function StatisticsView({ range }: { range: StatisticsRange }) {
  const { read } = usePage();
  const statistics = read('statistics', statisticsPath(range));
  return (
    <>
      <section aria-labelledby="statistics">
        <h1 id="statistics">Statistics</h1>
        <p class="lead">
          The wheel runs at night, so its day begins at noon: every date here is a <dfn>universal day</dfn>,
          from its noon to the next one, UTC. Earnings of owners are of calendar days, from midnight to
          midnight UTC.
        </p>
        <Choice
          label="Range"
          names={names}
          chosen={range}
          toPlace={(one) => ({ view: 'statistics', range: one })}
        />
        {statistics === null ? (
          <Unread what="Statistics" />
        ) : (
          <Summary statistics={statistics} route={statisticsPath(range)} />
        )}
      </section>
      {statistics !== null && <Charts statistics={statistics} range={range} />}
    </>
  );
}

function Summary({ statistics, route }: { statistics: Statistics; route: string }) {
  const { summary, coverage } = statistics.activity;
  const seen = coverage.observedRoundCount > 0 ? summary : null;
  const first = statistics.lifetime.firstObservedAt;
  const peak = summary.peakWindowStartMinuteUtc;
  return (
    <Figures isLarge route={route}>
      <Figure
        label="Work"
        {...describeWork(seen?.observedWorkUnits ?? null)}
        field="activity.summary.observedWorkUnits"
        meaning="Work of the fully observed rounds."
        provenance="accepted rounds"
      />
      <Figure
        label="Distance"
        {...describeDistance(seen?.observedDistanceMm ?? null)}
        field="activity.summary.observedDistanceMm"
        meaning="Sum of the daily distances."
      />
      <Figure
        label="Busiest half hour"
        value={peak !== null && `${new Date(peak * 60_000).toISOString().slice(11, 16)} UTC`}
        field="activity.summary.peakWindowStartMinuteUtc"
        exact={peak === null ? null : `${peak} minutes after midnight UTC`}
        meaning="The half hour with the most work on a typical day, as the mean of fully observed days."
      />
      <Figure
        label="Observed"
        value={formatPercent(coverage.coverageBps)}
        field="activity.coverage"
        exact={`${coverage.observedRoundCount} of ${coverage.expectedRoundCount} rounds`}
        meaning="Fully observed rounds. Work in other rounds is unknown, not zero."
      >
        {first === null
          ? 'No reading yet.'
          : first > statistics.window.startAt && (
              <>
                The first reading was at <Time at={first} as="minute" />, after the start of this range.
              </>
            )}
      </Figure>
      <Figure
        label="Active days"
        value={formatInteger(summary.activeDayCount)}
        field="activity.summary.activeDayCount"
        exact={`${summary.activeDayCount} active, ${summary.inactiveDayCount} observed without work`}
        meaning="Days with observed work. A day without observations is neither active nor inactive."
      />
    </Figures>
  );
}

const ticksMax = 5;

/** The device counts the distance of a day, also while its rounds are not observed. */
function classifyDistance(state: Observed, isKnown: boolean): Observed {
  if (isKnown) return state === 'missing' ? 'partial' : state;
  return state === 'complete' || state === 'partial' ? 'missing' : state;
}

function Charts({ statistics, range }: { statistics: Statistics; range: StatisticsRange }) {
  const { days } = statistics.activity;
  const known = findKnown(statistics, usePage().read);
  const marks = classifyDays(days, known.firstObservedMs).map((day) => {
    const { date: key, state, coverage, observedWorkUnits, distanceMm } = day;
    const isSeen = coverage.observedRoundCount > 0;
    const observed = `${formatPercent(coverage.coverageBps)} observed${state === 'running' ? ' so far' : ''}`;
    const { value, unit } = describeDistance(distanceMm);
    const describe = (quantity: string | null) => {
      const unknown = state === 'before' ? coverages.before : 'unknown';
      const known = state === 'complete' ? quantity : `${quantity} (${observed})`;
      return `${formatDay(key)}: ${quantity === null ? unknown : known}`;
    };
    return {
      work: {
        key,
        state,
        value: isSeen ? Number(observedWorkUnits) : null,
        text: describe(isSeen ? `${formatInteger(observedWorkUnits)} work units` : null),
      },
      distance: {
        key,
        state: classifyDistance(state, distanceMm !== null),
        value: distanceMm === null ? null : Number(distanceMm) / 1_000_000,
        text: describe(value === null ? null : `${value} ${unit}`),
      },
    };
  });
  const every = Math.ceil(days.length / ticksMax);
  const ticks = days.flatMap(({ date }, index) =>
    index % every === 0 ? [{ at: (index + 0.5) / days.length, text: formatDay(date) }] : [],
  );
  return (
    <>
      <section aria-labelledby="half-hours">
        <h2 id="half-hours">Every half hour of {names[range]}</h2>
        <HeatMap days={days} known={known} />
        <Legend kinds={['heat-1', 'heat-5', 'zero', 'partial-corner', 'missing', 'running', 'future']} />
        <DataTable
          id="half-hours"
          table={halfHoursTable(days, known)}
          file={`/tables/half-hours.csv?range=${range}`}
        />
      </section>
      <section aria-labelledby="days">
        <h2 id="days">Day by day</h2>
        <div class="two">
          <Columns
            id="work"
            caption="Work units in each day"
            marks={marks.map(({ work }) => work)}
            ticks={ticks}
          />
          <Columns
            id="distance"
            caption="km in each day"
            marks={marks.map(({ distance }) => distance)}
            ticks={ticks}
          />
        </div>
        <Legend kinds={['complete', 'running', 'partial', 'zero', 'missing']} />
        <DataTable
          id="days"
          table={daysTable(days, known.firstObservedMs)}
          file={`/tables/days.csv?range=${range}`}
        />
      </section>
      <Records statistics={statistics} />
    </>
  );
}
