import { createHash } from 'node:crypto';
import { Set as ImmutableSet, List } from 'immutable';
import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { RecordRefused } from '../foldRecord.ts';
import { dayMs } from '../schemas/durations.ts';
import { count, milliseconds } from '../schemas/stateScalars.ts';

/** At least so many IDs are remembered, however old the oldest is, */
export const rememberedIdsMin = 10_000;
/** and all of so much time, */
export const rememberedMs = 90 * dayMs;
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
  /** How many were forgotten before the oldest one. */
  readonly forgotten: number;
  /** Oldest first. */
  readonly entries: List<Entry>;
  readonly keys: ImmutableSet<string>;
}

export const noRememberedIds: RememberedIds = { forgotten: 0, entries: List(), keys: ImmutableSet() };

export function isRemembered({ keys }: RememberedIds, id: string): boolean {
  return keys.has(digestId(id));
}

/** Remembers an ID that is not yet remembered, and forgets the oldest ones that lie outside the bounds. */
export function rememberId(remembered: RememberedIds, id: string, storedAtMs: number): RememberedIds {
  const key = digestId(id);
  let entries = remembered.entries.push({ key, storedAtMs });
  let keys = remembered.keys.add(key);
  let { forgotten } = remembered;
  for (let oldest = entries.first(); oldest !== undefined; oldest = entries.first()) {
    const isOld = storedAtMs - oldest.storedAtMs > rememberedMs;
    const isForgotten = entries.size > rememberedIdsMax || (isOld && entries.size > rememberedIdsMin);
    if (!isForgotten) break;
    entries = entries.shift();
    keys = keys.delete(oldest.key);
    forgotten++;
  }
  return { forgotten, entries, keys };
}

/** IDs of one record of a snapshot, so that a new one changes one record. */
const idsPerRecord = 128;

/** Some of them in a snapshot: all keys in one string, and the milliseconds from each to the next. */
export const idRun = z.strictObject({
  /** So many were remembered before the first of them. */
  from: count,
  keys: z.string(),
  stepsMs: z.array(milliseconds),
});
export type EncodedIdRun = Inferred<typeof idRun>;
type EncodedIds = Omit<EncodedIdRun, 'from'>;

/**
 * Records of a snapshot by their numbers: those that differ from the records of an earlier time, with nothing for one whose IDs are all
 * forgotten. At the end there are only new ones, and at the beginning forgotten ones.
 */
export function* encodeIds(
  after: RememberedIds,
  before: RememberedIds,
): Iterable<readonly [number, EncodedIdRun | undefined]> {
  if (before === after) return;
  const { forgotten, entries } = after;
  const end = forgotten + entries.size;
  const endBefore = before.forgotten + before.entries.size;
  const findRecord = (index: number) => Math.floor(index / idsPerRecord);
  const firstRecord = findRecord(forgotten);
  const lastBefore = findRecord(endBefore - 1);
  for (let record = findRecord(before.forgotten); record < firstRecord && record <= lastBefore; record++)
    yield [record, undefined];
  for (let from = forgotten; from < end; ) {
    const record = findRecord(from);
    const through = Math.min((record + 1) * idsPerRecord, end);
    const isShortened = record === firstRecord && forgotten !== before.forgotten;
    if (isShortened || record >= findRecord(endBefore))
      yield [record, { from, ...encodeEntries(entries.slice(from - forgotten, through - forgotten)) }];
    from = through;
  }
}

function encodeEntries(entries: Iterable<Entry>): EncodedIds {
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

/** @throws RecordRefused when IDs between those of the runs are missing. */
export function decodeIds(runs: Iterable<EncodedIdRun>): RememberedIds {
  const ascending = [...runs].sort((a, b) => a.from - b.from);
  const forgotten = ascending[0]?.from ?? 0;
  const entries: Entry[] = [];
  for (const run of ascending) {
    if (run.from !== forgotten + entries.length)
      throw new RecordRefused(`remembered IDs before the ${run.from}th are missing`);
    entries.push(...decodeEntries(run));
  }
  return { forgotten, entries: List(entries), keys: ImmutableSet(entries.map(({ key }) => key)) };
}

function decodeEntries({ keys, stepsMs }: EncodedIds): Entry[] {
  if (keys.length !== stepsMs.length * keyLength)
    throw new RecordRefused(`${keys.length} characters are not the keys of ${stepsMs.length} IDs`);
  let storedAtMs = 0;
  return stepsMs.map((stepMs, index) => {
    storedAtMs += stepMs;
    return { key: keys.slice(index * keyLength, (index + 1) * keyLength), storedAtMs };
  });
}

function digestId(id: string): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, keyLength);
}
