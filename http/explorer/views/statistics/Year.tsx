import { useState } from 'preact/hooks';
import { ChartCursor } from '../../charts/ChartCursor.tsx';
import { Legend } from '../../charts/Columns.tsx';
import { classifyWork } from '../../charts/HeatMap.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { usePage } from '../../components/pageContext.ts';
import { formatInteger, formatPercent } from '../../format/numbers.ts';
import { formatDate } from '../../format/times.ts';
import type { Bodies } from '../../page.ts';
import { yearPath } from '../../resources.ts';

type Day = Bodies['year']['days'][number];

const cell = 10;
const monthsHeight = 14;
/** A year begins and ends within a week. */
const weeks = 53;

/** A calendar of the last year: a column per week from Monday to Sunday. A day is darker the more work it holds. */
export function Year() {
  const [pointed, setPointed] = useState<number | null>(null);
  const year = usePage().read('year', yearPath).body;
  if (year === null || year.days.length === 0) return null;
  const { days } = year;
  const offset = (new Date(days[0]?.date ?? 0).getUTCDay() + 6) % 7;
  const largest = days.reduce((most, { observedWorkUnits }) => Math.max(most, Number(observedWorkUnits)), 1);
  const findLeft = (index: number) => Math.floor((offset + index) / 7) * cell;
  const draw = (index: number) =>
    `M${findLeft(index)} ${monthsHeight + ((offset + index) % 7) * cell}h9v9h-9z`;
  const paths = new Map<string, string>();
  days.forEach((day, index) => {
    const kind = classify(day, largest);
    paths.set(kind, `${paths.get(kind) ?? ''}${draw(index)}`);
  });
  const point = (event: PointerEvent & { currentTarget: Element }) => {
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
    const column = Math.floor(((event.clientX - left) / width) * weeks);
    const row = Math.floor(
      (((event.clientY - top) / height) * (monthsHeight + 7 * cell) - monthsHeight) / cell,
    );
    const index = column * 7 + row - offset;
    setPointed(row >= 0 && row < 7 && index in days ? index : null);
  };
  return (
    <section aria-labelledby="year">
      <h2 id="year">A year, day by day</h2>
      <div class="heat">
        <ChartCursor
          label="Days of the year"
          count={days.length}
          pointed={pointed}
          describe={(index) => describeDay(days[index])}
          onPoint={setPointed}
        />
        <svg
          class="year"
          viewBox={`0 0 ${weeks * cell} ${monthsHeight + 7 * cell}`}
          role="img"
          aria-label="Work of each day of the year"
          onPointerMove={point}
          onPointerDown={point}
          onPointerLeave={({ pointerType }) => pointerType === 'touch' || setPointed(null)}
        >
          {days.map(
            ({ date }, index) =>
              date.endsWith('-01') && (
                <text key={date} x={Math.min(findLeft(index), (weeks - 2) * cell)} y="9">
                  {formatDate(date).slice(2, 5)}
                </text>
              ),
          )}
          {[...paths].map(([kind, path]) => (
            <path key={kind} class={kind} d={path} fill={kind === 'missing' ? 'url(#hatching)' : undefined} />
          ))}
          {pointed !== null && <path class="pointed-cell" d={draw(pointed)} />}
        </svg>
        <p class="readout" aria-hidden="true">
          {pointed === null ? ' ' : describeDay(days[pointed])}
        </p>
      </div>
      <Legend
        entries={[
          ['heat-1', 'little work'],
          ['heat-5', 'much work'],
          ['zero', 'observed, no work'],
          ['missing', 'not observed'],
        ]}
      />
      <DataTable caption="Days of the year" fileName="year.csv" rows={days} columns={dayColumns} />
    </section>
  );
}

/** Columns of a table of days. */
export const dayColumns: Parameters<typeof DataTable<Day>>[0]['columns'] = [
  { name: 'universal day', value: ({ date }) => date, isText: true },
  { name: 'work (units)', value: (day) => (isObserved(day) ? day.observedWorkUnits : null) },
  { name: 'distance (mm)', value: ({ distanceMm }) => distanceMm },
  { name: 'observed rounds', value: ({ coverage }) => coverage.observedRoundCount },
  { name: 'expected rounds', value: ({ coverage }) => coverage.expectedRoundCount },
];

const isObserved = ({ coverage }: Day) => coverage.observedRoundCount > 0;

function classify(day: Day, largest: number): string {
  if (!isObserved(day)) return day.coverage.expectedRoundCount === 0 ? 'future' : 'missing';
  return classifyWork(Number(day.observedWorkUnits), largest);
}

function describeDay(day: Day | undefined): string {
  if (day === undefined) return '';
  const work = isObserved(day)
    ? `${formatInteger(day.observedWorkUnits)} work units, ${formatPercent(day.coverage.coverageBps)} observed`
    : 'not observed';
  return `${formatDate(day.date)}: ${work}`;
}
