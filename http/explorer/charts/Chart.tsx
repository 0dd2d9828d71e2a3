import type { ComponentChildren } from 'preact';
import { writeTimes } from '../format/times.ts';

interface ChartProps {
  readonly id: string;
  readonly class: string;
  readonly label: string;
  /** Text of each cell, with times in it (`format/times.ts`), shown when the cell is pointed at. */
  readonly texts: readonly string[];
  /** Cells per row in a chart with several rows, between which the up and down keys move. */
  readonly rowLength?: number;
  /** Drawings whose cells can be pointed at, by `cells`. */
  readonly children: ComponentChildren;
}

/**
 * A chart whose cells a pointer, a finger and the keyboard can point at, with the page's script (`browser/charts.ts`). The keyboard moves an invisible
 * slider, because every browser and screen reader can move one.
 */
export function Chart({ id, class: name, label, texts, rowLength, children }: ChartProps) {
  return (
    <div class={name} id={`chart-${id}`} data-texts={texts.join('\n')}>
      <input
        class="cursor needs-script"
        id={`cursor-${id}`}
        type="range"
        min={0}
        max={texts.length - 1}
        value={0}
        data-row-length={rowLength}
        aria-label={label}
        aria-valuetext={writeTimes(texts[0] ?? '', 'UTC')}
      />
      {children}
      <p class="readout" aria-hidden="true">
        {' '}
      </p>
    </div>
  );
}

/**
 * Attributes of a drawing whose equally wide cells fill its box.
 *
 * @param first index of its first cell in the chart; negative if the chart has no cell there.
 */
export function cells(columns: number, first = 0) {
  return { 'data-columns': columns, 'data-first': first };
}
