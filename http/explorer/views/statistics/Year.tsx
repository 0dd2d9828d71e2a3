import { Chart, cells } from '../../charts/Chart.tsx';
import { Legend } from '../../charts/Columns.tsx';
import { classifyWork } from '../../charts/HeatMap.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { usePage } from '../../components/pageContext.ts';
import { formatInteger, formatPercent } from '../../format/numbers.ts';
import { formatDate } from '../../format/times.ts';
import type { Bodies } from '../../page.ts';
import { yearPath } from '../../resources.ts';
import { daysTable } from '../../tables/tables.ts';

type Day = Bodies['year']['days'][number];

const cell = 10;
/** A year begins and ends within a week. */
const weeks = 53;

/** A calendar of the last year: a column per week from Monday to Sunday. A day is darker the more work it holds. */
export function Year() {
  const year = usePage().read('year', yearPath);
  if (year === null || year.days.length === 0) return null;
  const { days } = year;
  const offset = (new Date(days[0]?.date ?? 0).getUTCDay() + 6) % 7;
  const largest = days.reduce((most, { observedWorkUnits }) => Math.max(most, Number(observedWorkUnits)), 1);
  const findLeft = (index: number) => Math.floor((offset + index) / 7) * cell;
  const paths = new Map<string, string>();
  days.forEach((day, index) => {
    const kind = classify(day, largest);
    const path = `M${findLeft(index)} ${((offset + index) % 7) * cell}h9v9h-9z`;
    paths.set(kind, `${paths.get(kind) ?? ''}${path}`);
  });
  return (
    <section aria-labelledby="year">
      <h2 id="year">A year, day by day</h2>
      <Chart id="year" class="heat" label="Days of the year" texts={days.map(describeDay)}>
        <svg class="year" viewBox={`0 0 ${weeks * cell} 14`} aria-hidden="true">
          {days.map(
            ({ date }, index) =>
              date.endsWith('-01') && (
                <text key={date} x={Math.min(findLeft(index), (weeks - 2) * cell)} y="9">
                  {formatDate(date).slice(2, 5)}
                </text>
              ),
          )}
        </svg>
        <svg
          class="year"
          viewBox={`0 0 ${weeks * cell} ${7 * cell}`}
          role="img"
          aria-label="Work of each day of the year"
          {...cells(weeks, 7, -offset)}
        >
          {[...paths].map(([kind, path]) => (
            <path key={kind} class={kind} d={path} fill={kind === 'missing' ? 'url(#hatching)' : undefined} />
          ))}
        </svg>
      </Chart>
      <Legend
        entries={[
          ['heat-1', 'little work'],
          ['heat-5', 'much work'],
          ['zero', 'observed, no work'],
          ['missing', 'not observed'],
        ]}
      />
      <DataTable id="year" table={daysTable(days)} file="/tables/year.csv" />
    </section>
  );
}

function classify(day: Day, largest: number): string {
  if (day.coverage.observedRoundCount === 0)
    return day.coverage.expectedRoundCount === 0 ? 'future' : 'missing';
  return classifyWork(Number(day.observedWorkUnits), largest);
}

function describeDay({ date, coverage, observedWorkUnits }: Day): string {
  const work =
    coverage.observedRoundCount > 0
      ? `${formatInteger(observedWorkUnits)} work units, ${formatPercent(coverage.coverageBps)} observed`
      : 'not observed';
  return `${formatDate(date)}: ${work}`;
}
