import { expect } from 'vitest';
import type { FoldRecord, StateCapture } from '../../actors/foldRecord.ts';

/** Collects records, and applies the records of increments to them. */
export function createRecords() {
  const values = new Map<string, string>();
  const apply = (records: Iterable<FoldRecord>) => {
    for (const { kind, key, value } of records) {
      if (value === null) values.delete(`${kind} ${key}`);
      else values.set(`${kind} ${key}`, value);
    }
  };
  const sorted = () => [...values].sort(([a], [b]) => (a < b ? -1 : 1));
  return { apply, sorted, clear: () => values.clear() };
}

/** Follows the captures of one fold, and checks that the changes turn the previous state into the complete one. */
export function followCaptures() {
  const followed = createRecords();
  let increments = 0;
  let isFirst = true;
  return {
    follow: ({ all, changes }: StateCapture) => {
      const complete = createRecords();
      complete.apply(all());
      if (isFirst || changes === null) {
        followed.clear();
        followed.apply(all());
      } else {
        increments++;
        followed.apply(changes());
      }
      isFirst = false;
      expect(followed.sorted()).toEqual(complete.sorted());
    },
    /** Number of captures that were followed only by their changes. */
    increments: () => increments,
  };
}
