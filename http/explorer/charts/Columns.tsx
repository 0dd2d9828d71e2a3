import { useState } from 'preact/hooks';
import { ChartCursor } from './ChartCursor.tsx';
import { createLinearScale } from './linearScale.ts';
import { pointAt } from './pointAt.ts';
import { Scale } from './Scale.tsx';

type ColumnState = 'complete' | 'partial' | 'missing' | 'future';

/** One column of a chart: its height, its coverage, and the text shown when it is pointed at. */
interface ColumnMark {
  readonly key: string;
  readonly value: number | null;
  readonly state: ColumnState;
  readonly text: string;
  /** A second value, drawn as a step over the columns; null if unknown. */
  readonly reference?: number | null;
}

interface ColumnsProps {
  readonly label: string;
  readonly marks: readonly ColumnMark[];
  /** Labels below, each at the left edge of a column. Phones show every other one. */
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
  readonly formatValue: (value: number) => string;
  readonly tone?: 'measured' | 'settled' | 'issued';
}

const height = 100;
const columnWidth = 10;

/**
 * Columns that stretch with the page. Shapes are SVG without an aspect ratio; text is not scaled with them, so it is readable on a
 * phone. A missing column is hatched over its full height, an observed zero is a line at the bottom, and a future column is empty.
 */
export function Columns({ label, marks, ticks, formatValue, tone = 'measured' }: ColumnsProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const largest = Math.max(0, ...marks.flatMap(({ value, reference }) => [value ?? 0, reference ?? 0]));
  const scale = createLinearScale([0, largest === 0 ? 1 : largest], [0, height], 3);
  const gridValues = largest === 0 ? [] : scale.ticks.filter((value) => value > 0);
  const width = marks.length * columnWidth;
  const pointedMark = pointed === null ? null : (marks[pointed] ?? null);
  return (
    <div class={`chart ${tone}`}>
      <div class="plot-row">
        <Scale values={gridValues} top={(value) => height - scale(value)} formatValue={formatValue} />
        <ChartCursor
          label={label}
          count={marks.length}
          pointed={pointed}
          describe={(index) => marks[index]?.text ?? ''}
          onPoint={setPointed}
        />
        <svg
          class="plot"
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label}
          {...pointAt(marks.length, setPointed)}
        >
          {gridValues.map((value) => (
            <path key={value} class="grid" d={`M0 ${height - scale(value)}H${width}`} />
          ))}
          {marks.map((mark, index) => (
            <ColumnShape
              key={mark.key}
              mark={mark}
              x={index * columnWidth}
              top={height - scale(mark.value ?? 0)}
              isPointed={index === pointed}
            />
          ))}
          <path class="reference" d={drawReference(marks, (value) => height - scale(value))} />
          <path class="ground" d={`M0 ${height}H${width}`} />
        </svg>
      </div>
      <div class="ticks" aria-hidden="true">
        <svg width="100%" height="100%" aria-hidden="true">
          {ticks.map(({ at, text }, index) => (
            <text
              key={`${at}`}
              class={index % 2 === 0 ? '' : 'minor'}
              x={`${(at / marks.length) * 100}%`}
              y="12"
              text-anchor={index === 0 ? 'start' : at === marks.length ? 'end' : 'middle'}
            >
              {text}
            </text>
          ))}
        </svg>
      </div>
      <p class="readout" aria-hidden="true">
        {pointedMark?.text ?? ' '}
      </p>
    </div>
  );
}

function ColumnShape({
  mark: { value, state },
  x,
  top,
  isPointed,
}: {
  mark: ColumnMark;
  x: number;
  top: number;
  isPointed: boolean;
}) {
  const width = columnWidth - 2;
  const pointed = isPointed ? ' pointed' : '';
  if (state === 'missing')
    return (
      <rect class={`missing${pointed}`} x={x + 1} y="0" width={width} height={height} fill="url(#hatching)" />
    );
  if (state === 'future' || value === null) return null;
  // A line at the bottom distinguishes an observed zero from nothing.
  const isZero = value === 0;
  return (
    <rect
      class={`${isZero ? 'zero' : 'column'} ${state}${pointed}`}
      x={x + 1}
      y={isZero ? height - 2.5 : top}
      width={width}
      height={isZero ? 2.5 : Math.max(height - top, 1)}
    />
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
      path += isDrawing ? `V${height}h${columnWidth}` : `M${index * columnWidth} ${height}h${columnWidth}`;
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
