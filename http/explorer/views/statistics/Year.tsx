import { Chart, cells } from '../../charts/Chart.tsx';
import { Legend } from '../../charts/Columns.tsx';
import { classifyWork } from '../../charts/HeatMap.tsx';
import { classifyDays, findFirstObservedMs, type Observed } from '../../charts/observed.ts';
import { DataTable } from '../../components/DataTable.tsx';
import { usePage } from '../../components/pageContext.ts';
import { formatInteger, formatPercent } from '../../format/numbers.ts';
import { formatDate, formatDay } from '../../format/times.ts';
import { describeObservedWork } from '../../format/words.ts';
import type { Bodies } from '../../page.ts';
import { statisticsPath, yearPath } from '../../resources.ts';
import { dayMs } from '../../rounds.ts';
import { daysTable } from '../../tables/tables.ts';

type Day = Bodies['year']['days'][number] & { readonly state: Observed };

const cell = 10;
/** A year begins and ends within a week. */
const weeks = 53;
const monthsHeight = 14;
const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** A calendar of the last year: a column per week from Monday to Sunday. A day is darker the more work it holds, and leads to its page. */
export function Year() {
  const { read } = usePage();
  const [year, statistics] = [read('year', yearPath), read('statistics', statisticsPath('7d'))];
  const newest = year?.days.at(-1);
  if (year === null || statistics === null || newest === undefined) return null;
  const firstObservedMs = findFirstObservedMs(statistics);
  const days = classifyDays(year.days, firstObservedMs);
  const largest = days.reduce((most, { observedWorkUnits }) => Math.max(most, Number(observedWorkUnits)), 1);
  const newestMs = Date.parse(newest.date);
  /** Cells before the first day. */
  const offset = (weeks - 1) * 7 + ((new Date(newestMs).getUTCDay() + 6) % 7) - (days.length - 1);
  const firstMs = newestMs - (offset + days.length - 1) * dayMs;
  const months = Array.from({ length: weeks }, (_, week) => {
    const sunday = new Date(firstMs + (week * 7 + 6) * dayMs);
    return sunday.getUTCDate() <= 7 ? formatDay(sunday.toISOString()).split(' ')[1] : undefined;
  });
  return (
    <section aria-labelledby="year">
      <h2 id="year">A year, day by day</h2>
      <Chart id="year" class="heat" label="Days of the year; Enter opens a day" texts={days.map(describeDay)}>
        <div class="year-row">
          <svg class="year weekdays" aria-hidden="true">
            {weekdays.map((name, row) => (
              <text
                key={name}
                y={`${((monthsHeight + (row + 0.5) * cell) / (monthsHeight + 7 * cell)) * 100}%`}
                dominant-baseline="middle"
              >
                {name}
              </text>
            ))}
          </svg>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
          <section class="scroll" aria-label="Calendar of the year" tabIndex={0}>
            <svg class="year" viewBox={`0 0 ${weeks * cell} ${monthsHeight}`} aria-hidden="true">
              {months.map(
                (name, week) =>
                  name !== undefined && (
                    <text key={week} x={Math.min(week, weeks - 2) * cell} y="10">
                      {name}
                    </text>
                  ),
              )}
            </svg>
            {/* biome-ignore lint/a11y/useSemanticElements: a drawing has no other element */}
            <svg
              class="year"
              viewBox={`0 0 ${weeks * cell} ${7 * cell}`}
              role="group"
              aria-label="Work of each day of the year"
              {...cells(weeks, 7, -offset)}
            >
              <path
                class="before"
                d={Array.from({ length: offset }, (_, index) => drawCell(index)).join('')}
              />
              {days.map((day, index) => {
                const kind = classify(day, largest);
                return (
                  <a
                    key={day.date}
                    href={`/days/${day.date}`}
                    tabindex={-1}
                    aria-label={formatDate(day.date)}
                  >
                    <path
                      class={index === days.length - 1 ? `${kind} today` : kind}
                      d={drawCell(offset + index)}
                      fill={kind === 'missing' ? 'url(#hatching)' : undefined}
                    />
                  </a>
                );
              })}
            </svg>
          </section>
        </div>
      </Chart>
      <Legend
        entries={[
          ['heat-1', 'little work'],
          ['heat-5', 'much work'],
          ['zero', 'observed, no work'],
          ['missing', 'not observed'],
          ['before', 'before the first reading'],
          ['today', 'today'],
        ]}
      />
      <DataTable id="year" table={daysTable(year.days, firstObservedMs)} file="/tables/year.csv" />
    </section>
  );
}

function drawCell(index: number): string {
  return `M${Math.floor(index / 7) * cell} ${(index % 7) * cell}h9v9h-9z`;
}

function classify({ state, coverage, observedWorkUnits }: Day, largest: number): string {
  if (state === 'before') return 'before';
  if (state === 'running' && coverage.observedRoundCount === 0) return 'future';
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
