import type { ComponentChildren } from 'preact';
import type { Tone } from '../format/events.ts';
import { formatInteger } from '../format/numbers.ts';
import { writeTimes } from '../format/times.ts';
import { Chart, cells } from './Chart.tsx';

/** A label below a chart. */
export interface Tick {
  /** Distance from the left edge, as a fraction of the width. */
  readonly at: number;
  /** It may have times in it (`format/times.ts`). */
  readonly text: string;
}

interface PlotProps {
  readonly id: string;
  readonly label: string;
  readonly tone: Tone;
  /** Text of each value, shown when it is pointed at. Values are equally wide. */
  readonly texts: readonly string[];
  /** Values with a line across the chart. */
  readonly gridValues: readonly number[];
  /** Returns the distance of a value from the top, in percent of the height. */
  readonly top: (value: number) => number;
  /** Phones show every other one. */
  readonly ticks: readonly Tick[];
  /** Shapes in a box of `plotHeight` by `cellWidth` for each value. */
  readonly children: ComponentChildren;
}

export const plotHeight = 100;
export const cellWidth = 10;
/** Labels that are closer to an edge than this fraction of the width end there. */
const edge = 0.06;

/** A chart that stretches with the page. Shapes are SVG without an aspect ratio; text is not scaled with them, so it is readable on a phone. */
export function Plot({ id, label, tone, texts, gridValues, top, ticks, children }: PlotProps) {
  const width = texts.length * cellWidth;
  return (
    <Chart id={id} class={`chart ${tone}`} label={label} texts={texts}>
      <div class="plot-row">
        <div class="scale" aria-hidden="true">
          {gridValues.map((value) => (
            <svg key={value} class="scale-mark" aria-hidden="true" height="100%" width="100%">
              <text x="100%" y={`${top(value)}%`} text-anchor="end" dominant-baseline="middle">
                {formatInteger(value)}
              </text>
            </svg>
          ))}
        </div>
        <svg
          class="plot"
          viewBox={`0 0 ${width} ${plotHeight}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={label}
          {...cells(texts.length)}
        >
          {gridValues.map((value) => (
            <path key={value} class="grid" d={`M0 ${top(value)}H${width}`} />
          ))}
          {children}
        </svg>
      </div>
      <div class="ticks" aria-hidden="true">
        <svg width="100%" height="100%" aria-hidden="true">
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
      </div>
    </Chart>
  );
}
