import { formatDay } from '../../addresses/days.ts';
import { To } from '../components/Linked.tsx';
import { formatInteger, formatPercent } from '../format/numbers.ts';
import { toDay } from '../format/sentence.ts';
import { time } from '../format/times.ts';
import { coverages, describeObservedWork } from '../format/words.ts';
import { Chart, cells } from './Chart.tsx';
import { Ticks } from './Columns.tsx';
import {
  classifyDays,
  type Day,
  type HalfHour,
  type Known,
  listHalfHours,
  type Observed,
} from './observed.ts';

const levels = 5;
const halfHoursPerDay = 48;
/** Hours from noon to noon, in UTC: local ones would be wrong for the days before clocks are changed. */
const hours = [12, 16, 20, 24, 28, 32, 36].map((hour) => ({
  at: (hour - 12) / 24,
  text: `${String(hour % 24).padStart(2, '0')}:00`,
}));

/** Days, newest first, with half hours from noon to noon. A cell is darker the more work it holds. */
export function HeatMap({ days, known }: { days: readonly Day[]; known: Known }) {
  const rows = classifyDays(days, known.firstObservedMs)
    .reverse()
    .map((day) => ({ day, buckets: listHalfHours(day, known) }));
  const largest = Math.max(
    1,
    ...days.flatMap(({ buckets }) => buckets.map(({ workUnits }) => Number(workUnits ?? '0'))),
  );
  return (
    <Chart id="half-hours" class="heat" texts={rows.flatMap(({ buckets }) => buckets.map(describeHalfHour))}>
      <table>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">
              <span class="visually-hidden">Half hours, UTC</span>
              <Ticks ticks={hours} />
            </th>
            <th scope="col" class="number">
              Units
            </th>
            <th scope="col" class="number coverage">
              Observed
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ day, buckets }, row) => (
            <tr key={day.date} id={day.date}>
              <th scope="row">
                <To {...toDay(day.date)} text={formatDay(day.date)} />
              </th>
              <td>
                <svg
                  class="strip"
                  viewBox={`0 0 ${buckets.length * 10} 20`}
                  preserveAspectRatio="none"
                  role="img"
                  aria-label={describeDay(day)}
                  {...cells(buckets.length, row * halfHoursPerDay)}
                >
                  {groupCells(buckets, largest).map(([kind, path]) => (
                    <path
                      key={kind}
                      class={kind}
                      d={path}
                      fill={kind === 'missing' || kind === 'partial-corner' ? 'url(#hatching)' : undefined}
                    />
                  ))}
                </svg>
              </td>
              <td class="number">
                {day.coverage.observedRoundCount === 0 ? '–' : formatInteger(day.observedWorkUnits)}
              </td>
              <td class="number coverage">
                {day.state === 'before' ? '–' : formatPercent(day.coverage.coverageBps)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Chart>
  );
}

/** Returns one path for all cells that look the same, instead of 48 shapes per day. */
function groupCells(buckets: readonly HalfHour[], largest: number): [string, string][] {
  const paths = new Map<string, string>();
  buckets.forEach((bucket, index) => {
    for (const [kind, path] of drawCell(bucket, index * 10, largest))
      paths.set(kind, `${paths.get(kind) ?? ''}${path}`);
  });
  return [...paths];
}

function drawCell(
  { state, workUnits }: HalfHour,
  x: number,
  largest: number,
): [kind: string, path: string][] {
  const whole = `M${x + 0.5} 1h9v18h-9z`;
  if (state === 'future' || state === 'before') return [['future', `M${x + 4} 10h2`]];
  if (state === 'missing') return [['missing', whole]];
  if (state === 'running') return [['running', whole]];
  const work = Number(workUnits ?? '0');
  const level = Math.min(levels, Math.ceil((work / largest) * levels));
  const cell: [string, string] = work === 0 ? ['zero', `M${x + 0.5} 15h9v4h-9z`] : [`heat-${level}`, whole];
  // A hatched corner marks a half hour that was partly observed.
  return state === 'partial' ? [cell, ['partial-corner', `M${x + 9.5} 1v18l-9 -18z`]] : [cell];
}

function describeHalfHour({ startAt, state, workUnits }: HalfHour): string {
  return `${time('dayAndHalfHour', startAt)}: ${describeObservedWork(workUnits, state)}`;
}

function describeDay({
  date,
  observedWorkUnits,
  coverage,
  state,
}: Day & { readonly state: Observed }): string {
  if (state === 'before') return `${formatDay(date)}: ${coverages.before}`;
  const work = `${formatInteger(observedWorkUnits)} work units observed${state === 'running' ? ' so far' : ''}`;
  return `${formatDay(date)}: ${work}, ${formatPercent(coverage.coverageBps)} of its rounds`;
}
