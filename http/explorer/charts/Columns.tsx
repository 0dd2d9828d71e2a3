import type { Tone } from '../format/events.ts';
import { createLinearScale } from './linearScale.ts';
import type { Observed } from './observed.ts';
import { cellWidth, plotHeight as height, Plot, type Tick } from './Plot.tsx';

/** One column of a chart: its height, its coverage, and the text shown when it is pointed at. */
interface ColumnMark {
  readonly key: string;
  readonly value: number | null;
  readonly state: Observed;
  readonly text: string;
  /** A second value, drawn as a step over the columns; null if unknown. */
  readonly reference?: number | null;
}

interface ColumnsProps {
  readonly id: string;
  readonly label: string;
  readonly marks: readonly ColumnMark[];
  readonly ticks: readonly Tick[];
  readonly tone?: Tone;
}

/**
 * A chart of columns. What is unknown is hatched: all of a missing column, and above a partly observed one. A running column is hollow, an observed zero a line
 * at the bottom, and a future column empty.
 */
export function Columns({ id, label, marks, ticks, tone = 'measured' }: ColumnsProps) {
  const largest = Math.max(0, ...marks.flatMap(({ value, reference }) => [value ?? 0, reference ?? 0]));
  const scale = createLinearScale([0, largest === 0 ? 1 : largest], [height, 0], 3);
  return (
    <Plot
      id={id}
      label={label}
      tone={tone}
      texts={marks.map(({ text }) => text)}
      gridValues={largest === 0 ? [0] : scale.ticks}
      top={scale}
      ticks={ticks}
    >
      {marks.map((mark, index) => (
        <ColumnShape key={mark.key} mark={mark} x={index * cellWidth} top={scale(mark.value ?? 0)} />
      ))}
      <path class="reference" d={drawReference(marks, scale)} />
      <path class="ground" d={`M0 ${height}H${marks.length * cellWidth}`} />
    </Plot>
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
      const height = y(reference).toFixed(1);
      path += isDrawing ? `V${height}h${cellWidth}` : `M${index * cellWidth} ${height}h${cellWidth}`;
    }
    isDrawing = isKnown;
  });
  return path;
}

export function Legend({ entries }: { entries: readonly (readonly [kind: string, text: string])[] }) {
  return (
    <ul class="legend">
      {entries.map(([kind, text]) => (
        <li key={kind}>
          <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
            <Swatch kind={kind} />
          </svg>
          {text}
        </li>
      ))}
    </ul>
  );
}

function Swatch({ kind }: { kind: string }) {
  switch (kind) {
    case 'missing':
      return (
        <>
          <rect width="12" height="12" class="hatch-ground" />
          <path class="hatch-line" d="M-2 8L8-2M0 12L12 0M5 14L14 5" />
        </>
      );
    case 'partial':
      return (
        <>
          <Swatch kind="missing" />
          <rect class="column partial" y="6" width="12" height="6" />
        </>
      );
    case 'partial-corner':
      return <path class="partial-corner" d="M11.5 .5v11L.5 .5z" fill="url(#hatching)" />;
    case 'running':
      return <rect class="running" x="1" y="1" width="10" height="10" />;
    case 'zero':
      return <rect class="zero" y="9" width="12" height="3" />;
    case 'reference':
      return <path class="reference" d="M0 6h12" />;
    case 'future':
      return <path class="ground" d="M0 11.5h12" />;
    default:
      return <rect class={`column ${kind}`} width="12" height="12" />;
  }
}
