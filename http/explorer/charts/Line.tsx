import { area, line } from 'd3-shape';
import { createLinearScale } from './linearScale.ts';
import { Scale } from './Scale.tsx';

/** One point of a line; a point without a value is a gap. */
interface LinePoint {
  readonly key: string;
  readonly value: number | null;
  readonly isComplete: boolean;
  readonly text: string;
}

interface LineProps {
  readonly label: string;
  readonly points: readonly LinePoint[];
  readonly formatValue: (value: number) => string;
  readonly tone?: 'measured' | 'settled' | 'issued';
  /** Whether the scale starts at zero, which would make a difficulty a flat line. */
  readonly isFromZero?: boolean;
}

const height = 100;
const step = 20;

/** A line over days or settlements, with gaps where values are unknown; incomplete points are hollow. */
export function Line({ label, points, formatValue, tone = 'measured', isFromZero = true }: LineProps) {
  const values = points.flatMap(({ value }) => (value === null ? [] : [value]));
  if (values.length === 0) return <p class="unavailable">Nothing was observed in this range.</p>;
  const [least, largest] = [Math.min(...values), Math.max(...values)];
  const scale = createLinearScale(chooseDomain(least, largest, isFromZero), [height - 4, 6], 3);
  const { ticks } = scale;
  const width = Math.max(points.length, 2) * step;
  const x = (index: number) => index * step + step / 2;
  const isKnown = ({ value }: LinePoint) => value !== null;
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
    <div class={`chart ${tone}`}>
      <div class="plot-row">
        <Scale values={ticks} top={scale} formatValue={formatValue} />
        <svg
          class="plot"
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label}
        >
          {ticks.map((value) => (
            <path key={value} class="grid" d={`M0 ${scale(value)}H${width}`} />
          ))}
          {isFromZero && <path class="area" d={drawArea(points) ?? ''} />}
          <path class="line" d={drawLine(points) ?? ''} />
          {points.map(
            ({ key, value, isComplete, text }, index) =>
              value !== null && (
                <g key={key}>
                  <title>{text}</title>
                  {/* A dot is a line of length zero with round caps: a circle would be stretched. */}
                  <path class="dot" d={`M${x(index)} ${scale(value)}h0`} />
                  {!isComplete && <path class="dot hollow" d={`M${x(index)} ${scale(value)}h0`} />}
                </g>
              ),
          )}
        </svg>
      </div>
    </div>
  );
}

/** Returns two different values, even if all points are equal. */
function chooseDomain(least: number, largest: number, isFromZero: boolean): [number, number] {
  if (isFromZero) return [0, largest === 0 ? 1 : largest];
  return least === largest ? [least * 0.9, largest * 1.1 + 1] : [least, largest];
}
