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
    const { columns, rows, first } = readCells(drawing);
    const { left, top, width, height } = drawing.getBoundingClientRect();
    const column = findPlace((event.clientX - left) / width, columns);
    const index = first + column * rows + findPlace((event.clientY - top) / height, rows);
    const chart = findChart(drawing);
    const count = chart?.dataset.texts?.split('\n').length ?? 0;
    point(chart, index >= 0 && index < count ? index : null);
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
    const link = findChart(target)?.querySelectorAll('svg a')[target.valueAsNumber];
    if (key === 'Enter' && link !== undefined) location.href = link.getAttribute('href') ?? '';
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
  const { columns, rows, first } = readCells(drawing);
  const cell = index - first;
  if (cell < 0 || cell >= columns * rows) return;
  const { width, height } = drawing.viewBox.baseVal;
  const [cellWidth, cellHeight] = [width / columns, height / rows];
  const [x, y] = [Math.floor(cell / rows) * cellWidth, (cell % rows) * cellHeight];
  const frame = document.createElementNS(svgNamespace, 'path');
  frame.setAttribute('class', 'pointed-cell');
  frame.setAttribute('d', `M${x} ${y}h${cellWidth}v${cellHeight}h-${cellWidth}z`);
  drawing.append(frame);
}

const findChart = (target: EventTarget | null) =>
  target instanceof Element ? target.closest<HTMLElement>('[data-texts]') : null;
const findDrawing = ({ target }: Event) =>
  target instanceof Element ? target.closest<SVGSVGElement>('svg[data-columns]') : null;
const isCursor = (target: EventTarget | null): target is HTMLInputElement =>
  target instanceof HTMLInputElement && target.classList.contains('cursor');

/** Written by `cells`. */
function readCells({ dataset: { columns, rows, first } }: SVGElement) {
  return { columns: Number(columns), rows: Number(rows), first: Number(first) };
}

function findPlace(part: number, count: number): number {
  return Math.min(Math.max(Math.floor(part * count), 0), count - 1);
}
