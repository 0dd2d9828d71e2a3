/** Minutes in half a day; a universal day starts at noon. */
export const halfDay = 720;

/**
 * Sorts half hours in the order of a universal day, noon to noon. Routes list them in clock order, so their first half belongs to the calendar
 * date after the day's label (CONTRACT.md, Terms of the statistics).
 */
export function inDayOrder<Slot extends { readonly startMinuteUtc: number }>(slots: readonly Slot[]): Slot[] {
  return [
    ...slots.filter(({ startMinuteUtc }) => startMinuteUtc >= halfDay),
    ...slots.filter(({ startMinuteUtc }) => startMinuteUtc < halfDay),
  ];
}
