import { useState } from 'preact/hooks';
import { usePage } from '../components/pageContext.ts';
import { formatInteger, formatPercent } from '../format/numbers.ts';
import { formatDay, type Zone } from '../format/times.ts';
import { coverages } from '../format/words.ts';
import type { Bodies } from '../page.ts';
import { ChartCursor } from './ChartCursor.tsx';
import { chooseDaysZone, formatDayAndHalfHour, inDayOrder, listDayTicks } from './halfHours.ts';
import { pointAt } from './pointAt.ts';

type Day = Bodies['statistics']['activity']['days'][number];
type Bucket = Day['buckets'][number];

const levels = 5;
const halfHoursPerDay = 48;

/** Days, newest first, with half hours from noon to noon. A cell is darker the more work it holds. */
export function HeatMap({ days }: { days: readonly Day[] }) {
  const { zone } = usePage();
  const [pointed, setPointed] = useState<number | null>(null);
  const ticksZone = chooseDaysZone(
    days.map(({ date }) => date),
    zone,
  );
  const rows = [...days].reverse().map((day) => ({ day, buckets: inDayOrder(day.buckets) }));
  const describe = (index: number) => {
    const row = rows[Math.floor(index / halfHoursPerDay)];
    const bucket = row?.buckets[index % halfHoursPerDay];
    return row === undefined || bucket === undefined ? '' : describeBucket(row.day.date, bucket, zone);
  };
  const largest = Math.max(
    1,
    ...days.flatMap(({ buckets }) => buckets.map(({ workUnits }) => Number(workUnits ?? '0'))),
  );
  return (
    <div class="heat">
      <ChartCursor
        label="Half hours, day by day"
        count={rows.length * halfHoursPerDay}
        pointed={pointed}
        describe={describe}
        onPoint={setPointed}
        rowLength={halfHoursPerDay}
      />
      <table>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col" class="strip-head">
              <span class="visually-hidden">Half hours, {ticksZone}</span>
              <svg class="strip-ticks" height="14" width="100%" aria-hidden="true">
                {listDayTicks(days.at(-1)?.date ?? '', ticksZone).map((text, index) => (
                  <text
                    key={`${index * 4}`}
                    class={index % 2 === 0 || text.endsWith(':00') ? '' : 'minor'}
                    x={`${(index / 6) * 100}%`}
                    y="11"
                    text-anchor={index === 0 ? 'start' : index === 6 ? 'end' : 'middle'}
                  >
                    {text.replace(/:00$/, '')}
                    {index === 0 && ticksZone !== zone && ` ${ticksZone}`}
                  </text>
                ))}
              </svg>
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
              <th scope="row">{formatDay(day.date)}</th>
              <td>
                <Strip
                  label={describeDay(day)}
                  buckets={buckets}
                  largest={largest}
                  pointed={pointed === null ? -1 : pointed - row * halfHoursPerDay}
                  onPoint={(index) => setPointed(index === null ? null : row * halfHoursPerDay + index)}
                />
              </td>
              <td class="number">
                {day.coverage.observedRoundCount === 0 ? '–' : formatInteger(day.observedWorkUnits)}
              </td>
              <td class="number coverage">{formatPercent(day.coverage.coverageBps)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="readout" aria-hidden="true">
        {pointed === null ? ' ' : describe(pointed)}
      </p>
    </div>
  );
}

function Strip({
  label,
  buckets,
  largest,
  pointed,
  onPoint,
}: {
  label: string;
  buckets: readonly Bucket[];
  largest: number;
  /** Index of the pointed cell; outside the row if another row is pointed at. */
  pointed: number;
  onPoint: (index: number | null) => void;
}) {
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${buckets.length * 10} 20`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      {...pointAt(buckets.length, onPoint)}
    >
      {groupCells(buckets, largest).map(([kind, path]) => (
        <path key={kind} class={kind} d={path} fill={kind === 'missing' ? 'url(#hatching)' : undefined} />
      ))}
      {pointed >= 0 && pointed < buckets.length && (
        <path class="pointed-cell" d={`M${pointed * 10} 0h10v20h-10z`} />
      )}
    </svg>
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

function describeBucket(date: string, { startMinuteUtc, coverage, workUnits }: Bucket, zone: Zone): string {
  const work =
    workUnits === null ? (coverage === 'future' ? '' : 'unknown') : `${formatInteger(workUnits)} work units`;
  return `${formatDayAndHalfHour(date, startMinuteUtc, zone)}: ${[work, coverages[coverage]].filter((part) => part !== '').join(', ')}`;
}

function describeDay({ date, observedWorkUnits, coverage }: Day): string {
  return `${formatDay(date)}: ${formatInteger(observedWorkUnits)} work units observed, ${formatPercent(coverage.coverageBps)} of its rounds`;
}
