import { To } from '../components/Linked.tsx';
import { Timed } from '../components/Time.tsx';
import { formatInteger, formatPercent } from '../format/numbers.ts';
import { toDay } from '../format/sentence.ts';
import { formatDay } from '../format/times.ts';
import { time, writeTimes } from '../format/timeTexts.ts';
import { coverages } from '../format/words.ts';
import type { Bodies } from '../page.ts';
import { Chart, cells } from './Chart.tsx';
import { findSpan, findTime, inDayOrder } from './halfHours.ts';

type Day = Bodies['statistics']['activity']['days'][number];
type Bucket = Day['buckets'][number];

const levels = 5;
const halfHoursPerDay = 48;

/** Days, newest first, with half hours from noon to noon. A cell is darker the more work it holds. */
export function HeatMap({ days }: { days: readonly Day[] }) {
  const rows = [...days].reverse().map((day) => ({ day, buckets: inDayOrder(day.buckets) }));
  const largest = Math.max(
    1,
    ...days.flatMap(({ buckets }) => buckets.map(({ workUnits }) => Number(workUnits ?? '0'))),
  );
  return (
    <Chart
      id="half-hours"
      class="heat"
      label="Half hours, day by day"
      texts={rows.flatMap(({ day, buckets }) => buckets.map((bucket) => describeBucket(day.date, bucket)))}
      rowLength={halfHoursPerDay}
    >
      <table>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col" class="strip-head">
              <HourTicks days={days.map(({ date }) => date)} />
            </th>
            <th scope="col" class="number">
              Work
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
                  {...cells(buckets.length, 1, row * halfHoursPerDay)}
                >
                  {groupCells(buckets, largest).map(([kind, path]) => (
                    <path
                      key={kind}
                      class={kind}
                      d={path}
                      fill={kind === 'missing' ? 'url(#hatching)' : undefined}
                    />
                  ))}
                </svg>
              </td>
              <td class="number">
                {day.coverage.observedRoundCount === 0 ? '–' : formatInteger(day.observedWorkUnits)}
              </td>
              <td class="number coverage">{formatPercent(day.coverage.coverageBps)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Chart>
  );
}

/** Hours every four hours, which stand for all of the days. */
function HourTicks({ days }: { days: readonly string[] }) {
  const span = findSpan(days);
  const [last = ''] = days.slice(-1);
  return (
    <>
      <span class="visually-hidden">
        Half hours, <Timed text={time('zoneOfSpan', ...span)} />
      </span>
      <svg class="strip-ticks" height="14" width="100%" aria-hidden="true">
        {[0, 1, 2, 3, 4, 5, 6].map((index) => {
          const minute = (720 + index * 240) % 1_440;
          const at = index === 6 ? span[1] : findTime(last, minute);
          const text = time('hourOfSpan', at, ...span);
          return (
            <text
              key={index}
              class={index % 2 === 0 ? '' : 'minor'}
              x={`${(index / 6) * 100}%`}
              y="11"
              text-anchor={index === 0 ? 'start' : index === 6 ? 'end' : 'middle'}
              data-times={text}
            >
              {writeTimes(text, 'UTC')}
            </text>
          );
        })}
      </svg>
    </>
  );
}

/** Returns one path for all cells that look the same, instead of 48 shapes per day. */
function groupCells(buckets: readonly Bucket[], largest: number): [string, string][] {
  const paths = new Map<string, string>();
  buckets.forEach((bucket, index) => {
    for (const [kind, path] of drawCell(bucket, index * 10, largest))
      paths.set(kind, `${paths.get(kind) ?? ''}${path}`);
  });
  return [...paths];
}

/** The style of a cell. */
export function classifyWork(work: number, largest: number): string {
  return work === 0 ? 'zero' : `heat-${Math.min(levels, Math.ceil((work / largest) * levels))}`;
}

function drawCell(
  { coverage, workUnits }: Bucket,
  x: number,
  largest: number,
): [kind: string, path: string][] {
  if (coverage === 'future') return [['future', `M${x + 4} 10h2`]];
  if (coverage === 'missing') return [['missing', `M${x + 0.5} 1h9v18h-9z`]];
  const work = Number(workUnits ?? '0');
  const cell: [string, string] = [
    classifyWork(work, largest),
    work === 0 ? `M${x + 0.5} 15h9v4h-9z` : `M${x + 0.5} 1h9v18h-9z`,
  ];
  // A cut-off corner marks a half hour that was partly observed.
  return coverage === 'partial' ? [cell, ['partial-corner', `M${x + 9.5} 1h-5l5 9z`]] : [cell];
}

function describeBucket(date: string, { startMinuteUtc, coverage, workUnits }: Bucket): string {
  const work =
    workUnits === null ? (coverage === 'future' ? '' : 'unknown') : `${formatInteger(workUnits)} work units`;
  const when = time('dayAndHalfHour', findTime(date, startMinuteUtc));
  return `${when}: ${[work, coverages[coverage]].filter((part) => part !== '').join(', ')}`;
}

function describeDay({ date, observedWorkUnits, coverage }: Day): string {
  return `${formatDay(date)}: ${formatInteger(observedWorkUnits)} work units observed, ${formatPercent(coverage.coverageBps)} of its rounds`;
}
