import { Chart, cells } from '../../charts/Chart.tsx';
import { Legend } from '../../charts/Columns.tsx';
import { classifyWork } from '../../charts/HeatMap.tsx';
import { classifyDays, findFirstObservedMs, type Observed } from '../../charts/observed.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { usePage } from '../../components/pageContext.ts';
import { formatInteger, formatPercent } from '../../format/numbers.ts';
import { formatDate } from '../../format/times.ts';
import { describeObservedWork } from '../../format/words.ts';
import type { Bodies } from '../../page.ts';
import { statisticsPath, yearPath } from '../../resources.ts';
import { daysTable } from '../../tables/tables.ts';

type Day = Bodies['year']['days'][number] & { readonly state: Observed };

const cell = 10;
/** A year begins and ends within a week. */
const weeks = 53;

/** A calendar of the last year: a column per week from Monday to Sunday. A day is darker the more work it holds. */
export function Year() {
  const { read } = usePage();
  const [year, statistics] = [read('year', yearPath), read('statistics', statisticsPath('7d'))];
  if (year === null || statistics === null || year.days.length === 0) return null;
  const firstObservedMs = findFirstObservedMs(statistics);
  const days = classifyDays(year.days, firstObservedMs);
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
          ['future', 'before the first reading'],
        ]}
      />
      <DataTable id="year" table={daysTable(year.days, firstObservedMs)} file="/tables/year.csv" />
    </section>
  );
}

function classify({ state, coverage, observedWorkUnits }: Day, largest: number): string {
  if (state === 'before' || (state === 'running' && coverage.observedRoundCount === 0)) return 'future';
  return state === 'missing' ? 'missing' : classifyWork(Number(observedWorkUnits), largest);
}

function describeDay({ date, state, coverage, observedWorkUnits }: Day): string {
  const isKnown = coverage.observedRoundCount > 0;
  const work =
    state === 'before' || state === 'running'
      ? describeObservedWork(isKnown ? observedWorkUnits : null, state)
      : isKnown
        ? `${formatInteger(observedWorkUnits)} work units, ${formatPercent(coverage.coverageBps)} observed`
        : 'not observed';
  return `${formatDate(date)}: ${work}`;
}
