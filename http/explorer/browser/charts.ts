import { writeTimes, type Zone } from '../format/times.ts';

const svgNamespace = 'http://www.w3.org/2000/svg';

/**
 * Lets a pointer or a finger point at the cells of charts (`charts/Chart.tsx`).
 *
 * @returns a function that shows the pointed cell again, after the page or the zone has changed.
 */
export function connectCharts(zone: () => Zone): () => void {
  let pointed: { readonly chart: HTMLElement; readonly index: number } | null = null;

  function show() {
    for (const frame of document.querySelectorAll('.pointed-cell')) frame.remove();
    for (const readout of document.querySelectorAll('.readout')) readout.textContent = '\u00a0';
    if (pointed === null) return;
    const { chart, index } = pointed;
    const text = chart.dataset.texts?.split('\n')[index] ?? '';
    const readout = chart.querySelector('.readout');
    if (readout !== null) readout.textContent = writeTimes(text, zone());
    for (const drawing of chart.querySelectorAll<SVGSVGElement>('[data-columns]')) frameCell(drawing, index);
  }

  function pointAt(event: PointerEvent) {
    const drawing = findDrawing(event);
    const chart = drawing?.closest<HTMLElement>('[data-texts]') ?? null;
    if (drawing === null || chart === null) return;
    const { columns, first } = readCells(drawing);
    const { left, width } = drawing.getBoundingClientRect();
    const column = Math.floor(((event.clientX - left) / width) * columns);
    const index = first + Math.min(Math.max(column, 0), columns - 1);
    pointed = index < 0 ? null : { chart, index };
    show();
  }

  document.addEventListener('pointermove', pointAt);
  document.addEventListener('pointerdown', pointAt);
  document.addEventListener('pointerout', (event) => {
    // A finger leaves when it is lifted; the tapped cell stays selected.
    if (event.pointerType === 'touch' || findDrawing(event) === null) return;
    pointed = null;
    show();
  });
  return show;
}

function frameCell(drawing: SVGSVGElement, index: number) {
  const { columns, first } = readCells(drawing);
  const cell = index - first;
  if (cell < 0 || cell >= columns) return;
  const { width, height } = drawing.viewBox.baseVal;
  const cellWidth = width / columns;
  const frame = document.createElementNS(svgNamespace, 'path');
  frame.setAttribute('class', 'pointed-cell');
  frame.setAttribute('d', `M${cell * cellWidth} 0h${cellWidth}v${height}h-${cellWidth}z`);
  drawing.append(frame);
}

const findDrawing = ({ target }: Event) =>
  target instanceof Element ? target.closest<SVGSVGElement>('svg[data-columns]') : null;

/** Written by `cells`. */
function readCells({ dataset: { columns, first } }: SVGElement) {
  return { columns: Number(columns), first: Number(first) };
}
