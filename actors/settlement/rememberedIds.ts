import { createHash } from 'node:crypto';
import { Set as ImmutableSet, List } from 'immutable';

/** At least so many IDs are remembered, however old the oldest is, */
export const rememberedIdsMin = 10_000;
/** and all of so much time, */
export const rememberedMs = 90 * 86_400_000;
/** but never more than this: one every 78 seconds for 90 days. */
export const rememberedIdsMax = 100_000;

/** Of an ID's digest in base64url: 96 bits, so that every ID takes the same room and no two are ever mistaken. */
const keyLength = 16;

interface Entry {
  readonly key: string;
  /** When the stream stored the message that ended it (epoch milliseconds). */
  readonly storedAtMs: number;
}

/**
 * IDs of what has ended, so that a message that is stored again does not start it again. Immutable, and to remember one more
 * costs the same whatever is remembered already.
 */
export interface RememberedIds {
  /** Oldest first. */
  readonly entries: List<Entry>;
  readonly keys: ImmutableSet<string>;
}

export const noRememberedIds: RememberedIds = { entries: List(), keys: ImmutableSet() };

export function isRemembered({ keys }: RememberedIds, id: string): boolean {
  return keys.has(digestId(id));
}

/** Remembers an ID that is not yet remembered, and forgets the oldest ones that lie outside the bounds. */
export function rememberId(remembered: RememberedIds, id: string, storedAtMs: number): RememberedIds {
  const key = digestId(id);
  let entries = remembered.entries.push({ key, storedAtMs });
  let keys = remembered.keys.add(key);
  for (let oldest = entries.first(); oldest !== undefined; oldest = entries.first()) {
    const isOld = storedAtMs - oldest.storedAtMs > rememberedMs;
    const isForgotten = entries.size > rememberedIdsMax || (isOld && entries.size > rememberedIdsMin);
    if (!isForgotten) break;
    entries = entries.shift();
    keys = keys.delete(oldest.key);
  }
  return { entries, keys };
}

/** As a line of a snapshot has them: all keys in one string, and the milliseconds from each to the next. */
export interface EncodedIds {
  readonly keys: string;
  readonly stepsMs: readonly number[];
}

export function encodeIds({ entries }: RememberedIds): EncodedIds {
  let previousMs = 0;
  const stepsMs: number[] = [];
  const keys: string[] = [];
  for (const { key, storedAtMs } of entries) {
    keys.push(key);
    stepsMs.push(storedAtMs - previousMs);
    previousMs = storedAtMs;
  }
  return { keys: keys.join(''), stepsMs };
}

export function decodeIds({ keys, stepsMs }: EncodedIds): RememberedIds {
  let storedAtMs = 0;
  const entries = stepsMs.map((stepMs, index): Entry => {
    storedAtMs += stepMs;
    return { key: keys.slice(index * keyLength, (index + 1) * keyLength), storedAtMs };
  });
  return { entries: List(entries), keys: ImmutableSet(entries.map(({ key }) => key)) };
}

function digestId(id: string): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, keyLength);
}
