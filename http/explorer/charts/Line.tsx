import { area, line } from 'd3-shape';
import type { Tone } from '../format/events.ts';
import { createLinearScale } from './linearScale.ts';
import { cellWidth, plotHeight as height, Plot, type Tick } from './Plot.tsx';

/** One point of a line; a point without a value is a gap. */
interface LinePoint {
  readonly key: string;
  readonly value: number | null;
  readonly isComplete: boolean;
  /** It has not ended, so no line leads to it. */
  readonly isRunning?: boolean;
  /** Text shown when it is pointed at. */
  readonly text: string;
  /** Text of its label below the chart, if there is room for it. */
  readonly tick: string;
}

interface LineProps {
  readonly id: string;
  readonly label: string;
  readonly points: readonly LinePoint[];
  readonly tone?: Tone;
  /** Whether the scale starts at zero, which would make a difficulty a flat line. */
  readonly isFromZero?: boolean;
}

/** Maximum number of labels below a chart. */
const ticksMax = 5;

/** A line over days or settlements, with gaps where values are unknown; incomplete points are hollow, and a running one stands alone. */
export function Line({ id, label, points, tone = 'measured', isFromZero = true }: LineProps) {
  const values = points.flatMap(({ value }) => (value === null ? [] : [value]));
  if (values.length === 0) return <p class="unavailable">Nothing was observed in this range.</p>;
  const [least, largest] = [Math.min(...values), Math.max(...values)];
  const scale = createLinearScale(chooseDomain(least, largest, isFromZero), [height - 4, 6], 3);
  const x = (index: number) => (index + 0.5) * cellWidth;
  const isKnown = ({ value, isRunning = false }: LinePoint) => value !== null && !isRunning;
  const drawLine = line<LinePoint>()
    .defined(isKnown)
    .x((_point, index) => x(index))
    .y(({ value }) => scale(value ?? 0));
  const drawArea = area<LinePoint>()
    .defined(isKnown)
    .x((_point, index) => x(index))
    .y0(height - 4)
    .y1(({ value }) => scale(value ?? 0));
  return (
    <Plot
      id={id}
      label={label}
      tone={tone}
      texts={points.map(({ text }) => text)}
      gridValues={scale.ticks}
      top={scale}
      ticks={chooseTicks(points)}
    >
      {isFromZero && <path class="area" d={drawArea(points) ?? ''} />}
      <path class="line" d={drawLine(points) ?? ''} />
      {points.map(
        ({ key, value, isComplete }, index) =>
          value !== null && (
            <g key={key}>
              {/* A dot is a line of length zero with round caps: a circle would be stretched. */}
              <path class="dot" d={`M${x(index)} ${scale(value)}h0`} />
              {!isComplete && <path class="dot hollow" d={`M${x(index)} ${scale(value)}h0`} />}
            </g>
          ),
      )}
    </Plot>
  );
}

/** Returns labels of points at equal distances, the first point's among them. */
function chooseTicks(points: readonly LinePoint[]): Tick[] {
  const every = Math.ceil(points.length / ticksMax);
  return points.flatMap(({ tick }, index) =>
    index % every === 0 ? [{ at: (index + 0.5) / points.length, text: tick }] : [],
  );
}

/** Returns two different values, even if all points are equal. */
function chooseDomain(least: number, largest: number, isFromZero: boolean): [number, number] {
  if (isFromZero) return [0, largest === 0 ? 1 : largest];
  return least === largest ? [least * 0.9, largest * 1.1 + 1] : [least, largest];
}
