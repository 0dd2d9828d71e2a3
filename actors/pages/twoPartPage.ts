/**
 * A list at one moment. Its newest entries are in memory; ClickHouse has every entry up to the floor of memory, which is captured with the list.
 * Memory has all entries above its floor, and perhaps some below: an event may be recorded long before it arrives.
 */
export interface TwoPartList<Entry, Place> {
  /** Negative if `one` comes before `other` in the list. */
  compare(one: Entry, other: Entry): number;
  /** The same for an entry in memory and for its row. */
  findKey(entry: Entry): string | number;
  /** At most `most` entries in memory that follow a place, in order. */
  listInMemory(after: Place, most: number): readonly Entry[];
  /** Whether the list is above the floor between a place and an entry, or from the place to the end. */
  isAboveFloor(after: Place, last: Entry | undefined): boolean;
  /** The first `most` entries that follow a place and are not in memory, and perhaps more. Rejects with StoreUnavailable if one may be missing. */
  readRows(after: Place, most: number, signal: AbortSignal): Promise<readonly Entry[]>;
}

/** At most `most` entries of a list that follow a place, in order: at once if memory has them all. */
export function twoPartPage<Entry, Place>(
  list: TwoPartList<Entry, Place>,
  after: Place,
  most: number,
  signal: AbortSignal,
): readonly Entry[] | Promise<readonly Entry[]> {
  const inMemory = list.listInMemory(after, most);
  if (list.isAboveFloor(after, inMemory[most - 1])) return inMemory;
  return list.readRows(after, most, signal).then((rows) => {
    const byKey = new Map([...rows, ...inMemory].map((entry) => [list.findKey(entry), entry]));
    return [...byKey.values()].sort(list.compare).slice(0, most);
  });
}
