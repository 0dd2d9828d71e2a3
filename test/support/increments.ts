import { expect } from 'vitest';
import type { FoldRecord, StateCapture } from '../../actors/foldRecord.ts';

/** Records after increments were applied. */
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

/** Follows the captures of one fold. The changes since the previous capture must give the complete state. */
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
    /** Number of captures that had only changes. */
    increments: () => increments,
  };
}
