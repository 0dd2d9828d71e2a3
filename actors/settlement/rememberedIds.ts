import { createHash } from 'node:crypto';
import { Set as ImmutableSet, List } from 'immutable';
import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { RecordRefused } from '../folds/foldRecord.ts';
import { dayMs } from '../schemas/durations.ts';
import { count, milliseconds } from '../schemas/stateScalars.ts';

/** Number of newest IDs that are remembered regardless of age. */
export const rememberedIdsMin = 10_000;
/** Younger IDs are remembered, up to {@link rememberedIdsMax}. */
export const rememberedMs = 90 * dayMs;
/** Maximum number of remembered IDs: one every 78 seconds for 90 days. */
export const rememberedIdsMax = 100_000;

/** Length of an ID's digest in base64url. 96 bits give every ID the same size and make a collision practically impossible. */
const keyLength = 16;

interface Entry {
  readonly key: string;
  /** When the stream stored the message that added the ID (epoch milliseconds). */
  readonly storedAtMs: number;
}

/**
 * IDs of ended processes and accepted messages, so that a message that is stored again has no effect. Immutable. Adding an ID costs
 * the same regardless of the number of IDs.
 */
export interface RememberedIds {
  /** Number of IDs that were forgotten. */
  readonly forgotten: number;
  /** Oldest first. */
  readonly entries: List<Entry>;
  readonly keys: ImmutableSet<string>;
}

export const noRememberedIds: RememberedIds = { forgotten: 0, entries: List(), keys: ImmutableSet() };

/**
 * Text that identifies an accepted message. Snapshots hold its digest, so its form must never change. Members that are null are left out:
 * a message that is stored already lacks a member that a later version adds, and must stay the same message.
 */
export function identifyMessage(message: object): string {
  return JSON.stringify(message, (_name, member: unknown) => member ?? undefined);
}

export function isRemembered({ keys }: RememberedIds, id: string): boolean {
  return keys.has(digestId(id));
}

/** Adds a new ID and forgets the oldest ones outside the bounds. */
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

/** IDs per record of a snapshot. A small number, so that no record holds the event loop up. */
const idsPerRecord = 128;

/** Consecutive IDs as one record of a snapshot. */
export const idRun = z.strictObject({
  /** Number of IDs ever remembered before the first one here. */
  from: count,
  entries: z.array(z.tuple([z.string().length(keyLength), milliseconds])),
});
type IdRun = Inferred<typeof idRun>;

/** The IDs as runs of {@link idsPerRecord}, oldest first. */
export function encodeIds({ forgotten, entries }: RememberedIds): IdRun[] {
  return Array.from({ length: Math.ceil(entries.size / idsPerRecord) }, (_, run) => {
    const start = run * idsPerRecord;
    const some = entries.slice(start, start + idsPerRecord);
    return {
      from: forgotten + start,
      entries: Array.from(some, ({ key, storedAtMs }) => [key, storedAtMs] as const),
    };
  });
}

/** @throws RecordRefused if IDs between two runs are missing. */
export function decodeIds(runs: Iterable<IdRun>): RememberedIds {
  const ascending = [...runs].sort((a, b) => a.from - b.from);
  const forgotten = ascending[0]?.from ?? 0;
  const entries: Entry[] = [];
  for (const run of ascending) {
    if (run.from !== forgotten + entries.length)
      throw new RecordRefused(`remembered IDs before number ${run.from} are missing`);
    entries.push(...run.entries.map(([key, storedAtMs]) => ({ key, storedAtMs })));
  }
  return { forgotten, entries: List(entries), keys: ImmutableSet(entries.map(({ key }) => key)) };
}

function digestId(id: string): string {
  return createHash('sha256').update(id).digest('base64url').slice(0, keyLength);
}
