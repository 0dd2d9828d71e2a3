import { ticks as listTicks, nice } from 'd3-array';
import { Timed } from '../components/Time.tsx';
import type { Tone } from '../format/events.ts';
import { formatScale } from '../format/numbers.ts';
import { writeTimes } from '../format/times.ts';
import { Chart, cells } from './Chart.tsx';
import type { Observed } from './observed.ts';

interface ColumnMark {
  readonly key: string;
  readonly value: number | null;
  readonly state: Observed;
  readonly text: string;
  /** A second value, drawn as a step over the columns; null if unknown. */
  readonly reference?: number | null;
}

interface Tick {
  /** Distance from the left edge, as a fraction of the width. */
  readonly at: number;
  /** It may have times in it (`format/times.ts`). */
  readonly text: string;
}

interface ColumnsProps {
  readonly id: string;
  /** What its axes are. It may have times in it (`format/times.ts`). */
  readonly caption: string;
  /** What it says without its picture, if that is more. */
  readonly label?: string;
  readonly marks: readonly ColumnMark[];
  /** Phones show every other one. */
  readonly ticks: readonly Tick[];
  readonly tone?: Tone;
}

const height = 100;
const cellWidth = 10;
/** Labels that are closer to an edge than this fraction of the width end there. */
const edge = 0.06;
const gridLines = 3;

/**
 * A chart of columns, which stretches with the page. Shapes are SVG without an aspect ratio; text is not scaled with them, so it is readable on a phone.
 * Unknown parts are hatched: all of a missing column, and above a partly observed one. A running column is hollow, an observed zero a line at the bottom,
 * and a future column empty.
 */
export function Columns({ id, caption, label, marks, ticks, tone = 'measured' }: ColumnsProps) {
  const most = Math.max(0, ...marks.flatMap(({ value, reference }) => [value ?? 0, reference ?? 0]));
  const [, largest] = nice(0, most === 0 ? 1 : most, gridLines);
  const gridValues = most === 0 ? [0] : listTicks(0, largest, gridLines);
  /** Distance of a value from the top. */
  const top = (value: number) => height * (1 - value / largest);
  const width = marks.length * cellWidth;
  return (
    <Chart id={id} class={`chart ${tone}`} texts={marks.map(({ text }) => text)}>
      <p class="small quiet">
        <Timed text={caption} />
      </p>
      <div class="plot-row">
        <div class="scale" aria-hidden="true">
          {gridValues.map((value) => (
            <svg key={value} class="scale-mark" aria-hidden="true" height="100%" width="100%">
              <text x="100%" y={`${top(value)}%`} text-anchor="end" dominant-baseline="middle">
                {formatScale(value)}
              </text>
            </svg>
          ))}
        </div>
        <svg
          class="plot"
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label ?? writeTimes(caption, 'UTC')}
          {...cells(marks.length)}
        >
          {gridValues.map((value) => (
            <path key={value} class="grid" d={`M0 ${top(value)}H${width}`} />
          ))}
          {marks.map((mark, index) => (
            <ColumnShape key={mark.key} mark={mark} x={index * cellWidth} top={top(mark.value ?? 0)} />
          ))}
          <path class="reference" d={drawReference(marks, top)} />
          <path class="ground" d={`M0 ${height}H${width}`} />
        </svg>
      </div>
      <Ticks ticks={ticks} />
    </Chart>
  );
}

/** Labels at the edge of a chart, which are not scaled with it. */
export function Ticks({ ticks }: { ticks: readonly Tick[] }) {
  return (
    <svg class="ticks" aria-hidden="true">
      {ticks.map(({ at, text }, index) => (
        <text
          key={`${at}`}
          class={index % 2 === 0 ? '' : 'minor'}
          x={`${at * 100}%`}
          y="12"
          text-anchor={at < edge ? 'start' : at > 1 - edge ? 'end' : 'middle'}
          data-times={text}
        >
          {writeTimes(text, 'UTC')}
        </text>
      ))}
    </svg>
  );
}

/** A line at the bottom distinguishes an observed zero from nothing. */
const leastHeight = 2.5;

function ColumnShape({ mark: { value, state }, x, top }: { mark: ColumnMark; x: number; top: number }) {
  const width = cellWidth - 2;
  const hatch = <rect class="missing" x={x + 1} y="0" width={width} height={height} fill="url(#hatching)" />;
  if (state === 'missing') return hatch;
  if (state === 'future' || state === 'before' || value === null) return null;
  return (
    <>
      {state === 'partial' && hatch}
      <rect
        class={`${value === 0 ? 'zero' : 'column'} ${state}`}
        x={x + 1}
        y={Math.min(top, height - leastHeight)}
        width={width}
        height={Math.max(height - top, leastHeight)}
      />
    </>
  );
}

/** Draws steps over the columns, with a gap for each unknown reference. */
function drawReference(marks: readonly ColumnMark[], y: (value: number) => number): string {
  let isDrawing = false;
  let path = '';
  marks.forEach(({ reference }, index) => {
    const isKnown = reference !== null && reference !== undefined;
    if (isKnown) {
      const at = y(reference).toFixed(1);
      path += isDrawing ? `V${at}h${cellWidth}` : `M${index * cellWidth} ${at}h${cellWidth}`;
    }
    isDrawing = isKnown;
  });
  return path;
}

const square = 'M0 0h12v12H0z';

/** What the parts of charts mean, with their shapes. */
const parts = {
  complete: ['observed', square],
  running: ['so far', 'M1 1h10v10H1z'],
  partial: ['partly observed', 'M0 6h12v6H0z'],
  'partial-corner': ['partly observed', 'M11.5 .5v11L.5 .5z'],
  zero: ['zero', 'M0 9h12v3H0z'],
  missing: ['not observed', ''],
  reference: ['typical day', 'M0 6h12'],
  'heat-1': ['little work', square],
  'heat-5': ['much work', square],
  future: ['still to come, or before the first reading', 'M0 11.5h12'],
} as const;

export function Legend({ kinds }: { kinds: readonly (keyof typeof parts)[] }) {
  return (
    <ul class="legend">
      {kinds.map((kind) => {
        const [meaning, shape] = parts[kind];
        const isHatched = kind === 'missing' || kind === 'partial';
        return (
          <li key={kind}>
            <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
              {isHatched && <rect width="12" height="12" fill="url(#hatching)" />}
              <path
                class={kind === 'partial-corner' ? kind : `column ${kind}`}
                d={shape}
                fill="url(#hatching)"
              />
            </svg>
            {meaning}
          </li>
        );
      })}
    </ul>
  );
}
