import { formatAge, formatDuration, type TimeFormat, time, writeTimes, type Zone } from '../format/times.ts';

/** Writes all times below a node in a zone, and the age of those that show it. */
export function showTimes(root: ParentNode, zone: Zone, nowMs: number): void {
  for (const element of root.querySelectorAll<HTMLTimeElement>('time[data-as]')) {
    // Written by `Time`.
    const as = element.dataset.as as TimeFormat | 'ago';
    if (as !== 'ago') setText(element, writeTimes(time(as, element.dateTime), zone));
  }
  for (const element of root.querySelectorAll<HTMLElement | SVGElement>('[data-times]'))
    setText(element, writeTimes(element.dataset.times ?? '', zone));
  showClocks(root, nowMs);
}

/** Writes what changes every second: ages, and how far the open round is. */
export function showClocks(root: ParentNode, nowMs: number): void {
  const secondsUntil = (iso: string | undefined) => (Date.parse(iso ?? '') - nowMs) / 1_000;
  for (const element of root.querySelectorAll<HTMLTimeElement>('time[data-as="ago"]'))
    setText(element, formatAge(element.dateTime, nowMs));
  for (const element of root.querySelectorAll<HTMLElement>('[data-remaining]'))
    setText(element, formatDuration(secondsUntil(element.dataset.remaining)));
  for (const element of root.querySelectorAll<SVGElement>('[data-since]')) {
    const { since, until } = element.dataset;
    const part = secondsUntil(since) / (secondsUntil(since) - secondsUntil(until));
    element.setAttribute('stroke-dasharray', `${Math.min(1, Math.max(0, part)).toFixed(4)} 1`);
  }
}

/** @returns the time that the page counts down to, if it has passed. */
export function findPassed(root: ParentNode, nowMs: number): string | null {
  const end = root.querySelector<HTMLElement>('[data-remaining]')?.dataset.remaining;
  return end !== undefined && Date.parse(end) <= nowMs ? end : null;
}

function setText(element: Element, text: string) {
  if (element.textContent !== text) element.textContent = text;
}
