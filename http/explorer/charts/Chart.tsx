import type { ComponentChildren } from 'preact';

interface ChartProps {
  readonly id: string;
  readonly class: string;
  /** Text of each cell, with times in it (`format/times.ts`), shown when the cell is pointed at. */
  readonly texts: readonly string[];
  /** Drawings whose cells can be pointed at, by `cells`. */
  readonly children: ComponentChildren;
}

/** A chart whose cells a pointer or a finger can point at, with the page's script (`browser/charts.ts`). Its table is for every other way to read it. */
export function Chart({ id, class: name, texts, children }: ChartProps) {
  return (
    <div class={name} id={`chart-${id}`} data-texts={texts.join('\n')}>
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
