import { writeTimes, type Zone } from '../format/times.ts';

const svgNamespace = 'http://www.w3.org/2000/svg';

/**
 * Lets a pointer, a finger and the keyboard point at the cells of charts (`charts/Chart.tsx`).
 *
 * @returns a function that shows all pointed cells again, after the page or the zone has changed.
 */
export function connectCharts(zone: () => Zone): () => void {
  /** Index of the pointed cell, by chart. */
  const pointed = new Map<HTMLElement, number>();

  function show(chart: HTMLElement) {
    const texts = chart.dataset.texts?.split('\n') ?? [];
    const index = pointed.get(chart);
    const text = index === undefined ? null : writeTimes(texts[index] ?? '', zone());
    const readout = chart.querySelector('.readout');
    if (readout !== null) readout.textContent = text ?? '\u00a0';
    const cursor = chart.querySelector<HTMLInputElement>('.cursor');
    if (cursor !== null) {
      cursor.max = String(texts.length - 1);
      if (index !== undefined) cursor.value = String(index);
      cursor.setAttribute('aria-valuetext', text ?? writeTimes(texts[cursor.valueAsNumber] ?? '', zone()));
    }
    for (const frame of chart.querySelectorAll('.pointed-cell')) frame.remove();
    if (index !== undefined)
      for (const drawing of chart.querySelectorAll<SVGSVGElement>('[data-columns]'))
        frameCell(drawing, index);
  }

  function point(chart: HTMLElement | null, index: number | null) {
    if (chart === null) return;
    if (index === null) pointed.delete(chart);
    else pointed.set(chart, index);
    show(chart);
  }

  /** Moves the cell that the keyboard points at into sight. */
  function pointByKey(target: HTMLInputElement, index: number) {
    const chart = findChart(target);
    point(chart, index);
    chart?.querySelector('.pointed-cell')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  function pointAt(event: PointerEvent) {
    const drawing = findDrawing(event);
    if (drawing === null) return;
    const { columns, first } = readCells(drawing);
    const { left, width } = drawing.getBoundingClientRect();
    const column = Math.floor(((event.clientX - left) / width) * columns);
    const index = first + Math.min(Math.max(column, 0), columns - 1);
    point(findChart(drawing), index >= 0 ? index : null);
  }

  document.addEventListener('pointermove', pointAt);
  document.addEventListener('pointerdown', pointAt);
  document.addEventListener('pointerout', (event) => {
    // A finger leaves when it is lifted; the tapped cell stays selected.
    if (event.pointerType !== 'touch' && findDrawing(event) !== null) point(findChart(event.target), null);
  });
  for (const type of ['focusin', 'input'])
    document.addEventListener(type, ({ target }) => {
      if (isCursor(target)) pointByKey(target, target.valueAsNumber);
    });
  document.addEventListener('focusout', ({ target }) => {
    if (isCursor(target)) point(findChart(target), null);
  });
  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    if (!isCursor(target)) return;
    const rows = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
    const rowLength = Number(target.dataset.rowLength ?? 0);
    if (rows === 0 || rowLength === 0) return;
    event.preventDefault();
    const next = target.valueAsNumber + rows * rowLength;
    if (next >= 0 && next <= Number(target.max)) pointByKey(target, next);
  });
  return () => {
    for (const chart of pointed.keys()) if (!chart.isConnected) pointed.delete(chart);
    for (const chart of document.querySelectorAll<HTMLElement>('[data-texts]')) show(chart);
  };
}

/** Draws a frame around a cell, if the drawing has it. */
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

const findChart = (target: EventTarget | null) =>
  target instanceof Element ? target.closest<HTMLElement>('[data-texts]') : null;
const findDrawing = ({ target }: Event) =>
  target instanceof Element ? target.closest<SVGSVGElement>('svg[data-columns]') : null;
const isCursor = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.classList.contains('cursor');

/** Written by `cells`. */
function readCells({ dataset: { columns, first } }: SVGElement) {
  return { columns: Number(columns), first: Number(first) };
}
