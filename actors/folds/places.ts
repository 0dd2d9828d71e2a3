import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { dayMs } from '../schemas/durations.ts';
import { count, milliseconds } from '../schemas/stateScalars.ts';

/**
 * Default of `MINER_INSTALLATIONS_MAX`: installations with places in each of `MINER_COUNTER` and `MINER_PIPELINE`, not counting the
 * public one. In a measurement, one took 3 KB with readings, and 7 KB with messages of `MINER_PIPELINE`.
 */
export const installationsMax = 50_000;

/** An installation gives its place up to a new one if none of its messages was accepted for longer. */
const idleMsMax = 30 * dayMs;

/**
 * Longest time by which messages of an installation can name a later time than the stream stored the last of them: the clock may be five
 * minutes ahead, and the last half hour ends within thirty.
 */
const namedAheadMsMax = 3_600_000;

/** Decides about new installations, together with the installations that have places. */
export const placesState = z.strictObject({
  /** Start of the UTC day, by the stream's time, on which a new installation last asked for a place. */
  dayStartMs: milliseconds,
  /** Places that new installations may still take on that day. */
  newLeft: count,
  /** Everything that forgotten installations have sent is from this time or before; null if none was forgotten. */
  forgottenThroughMs: milliseconds.nullable(),
});
export type PlacesState = Inferred<typeof placesState>;

interface PlacesOptions<Entry> {
  /** Maximum number of installations with places, not counting the public one. */
  readonly max: number;
  /** It always has its place. */
  readonly publicInstallationId: string;
  /** When the stream stored the last accepted message of an installation (epoch milliseconds). */
  readonly readHeardAtMs: (entry: Entry) => number;
}

/** Places that a state is restored from. */
interface HeldPlaces<Entry> {
  readonly entries: Iterable<readonly [installationId: string, entry: Entry]>;
  /** Null if no new installation has asked for a place. */
  readonly state: PlacesState | null;
}

interface Asked {
  /** When the stream stored the message (epoch milliseconds). */
  readonly storedAtMs: number;
  /** The publisher's own time of the message (epoch milliseconds). */
  readonly madeAtMs: number;
}

export interface PlaceCounts {
  readonly taken: number;
  readonly max: number;
  /** Installations that gave their places up since this process started. */
  readonly forgotten: number;
}

export type Places<Entry> = ReturnType<typeof createPlaces<Entry>>;

/**
 * The installations of a fold. Publishers choose their names, so their number is bounded, and nobody can take all places in one day: on each
 * UTC day, new installations get half of the places that are free. If none is left, a new installation replaces the installation with the longest
 * silence, if that is longer than {@link idleMsMax}. Messages alone decide, by the times at which the stream stored them, so the same messages
 * always give the same places, even if the fold is restored in between.
 */
export function createPlaces<Entry>(
  { max, publicInstallationId, readHeardAtMs }: PlacesOptions<Entry>,
  held: HeldPlaces<Entry> = { entries: [], state: null },
) {
  const entries = new Map(held.entries);
  let { state } = held;
  let forgotten = 0;
  /** Installations that may be forgotten on the day of the state, and when each was heard; the next one is last. Null until it is needed. */
  let silent: { readonly installationId: string; readonly heardAtMs: number }[] | null = null;

  const countTaken = () => entries.size - (entries.has(publicInstallationId) ? 1 : 0);

  function* listOthers() {
    for (const entry of entries) if (entry[0] !== publicInstallationId) yield entry;
  }

  function beginDay(dayStartMs: number, atMs: number): PlacesState {
    let heard = 0;
    for (const [, entry] of listOthers()) if (!isIdle(readHeardAtMs(entry), atMs)) heard++;
    silent = null;
    const newLeft = Math.ceil(Math.max(0, max - heard) / 2);
    return { dayStartMs, newLeft, forgottenThroughMs: state?.forgottenThroughMs ?? null };
  }

  function stateAt(atMs: number): PlacesState {
    const dayStartMs = Math.floor(atMs / dayMs) * dayMs;
    if (state?.dayStartMs !== dayStartMs) state = beginDay(dayStartMs, atMs);
    return state;
  }

  function listSilent({ dayStartMs }: PlacesState) {
    const endMs = dayStartMs + dayMs;
    // A time that is too late is from a clock that was wrong, and says nothing.
    const key = (heardAtMs: number) => (heardAtMs > endMs + idleMsMax ? Number.NEGATIVE_INFINITY : heardAtMs);
    return Array.from(listOthers(), ([installationId, entry]) => ({
      installationId,
      heardAtMs: readHeardAtMs(entry),
    }))
      .filter(({ heardAtMs }) => key(heardAtMs) < endMs - idleMsMax)
      .sort((a, b) => key(b.heardAtMs) - key(a.heardAtMs) || (a.installationId < b.installationId ? 1 : -1));
  }

  /** The installation that has been silent longest, if it may be forgotten. */
  function findIdle(current: PlacesState, atMs: number): string | null {
    silent ??= listSilent(current);
    for (let next = silent.at(-1); next !== undefined; next = silent.at(-1)) {
      const { installationId, heardAtMs } = next;
      const entry = entries.get(installationId);
      if (entry !== undefined && readHeardAtMs(entry) === heardAtMs)
        return isIdle(heardAtMs, atMs) ? installationId : null;
      silent.pop(); // It was forgotten, or heard again.
    }
    return null;
  }

  /** Forgets silent installations until a place is free, or nobody may be forgotten. Returns their entries. */
  function makeRoom(atMs: number): readonly Entry[] {
    const gone: Entry[] = [];
    while (countTaken() >= max) {
      const current = stateAt(atMs);
      const installationId = findIdle(current, atMs);
      const entry = installationId === null ? undefined : entries.get(installationId);
      if (installationId === null || entry === undefined) break;
      entries.delete(installationId);
      gone.push(entry);
      const throughMs = Math.min(readHeardAtMs(entry), atMs - idleMsMax) + namedAheadMsMax;
      state = {
        ...current,
        forgottenThroughMs: Math.max(current.forgottenThroughMs ?? throughMs, throughMs),
      };
    }
    forgotten += gone.length;
    return gone;
  }

  return {
    entries: entries as ReadonlyMap<string, Entry>,
    state: () => state,
    /** Installations that were forgotten sent nothing after this time (epoch milliseconds); null if none was. */
    forgottenThroughMs: () => state?.forgottenThroughMs ?? null,
    counts: (): PlaceCounts => ({ taken: countTaken(), max, forgotten }),

    /** Why an installation without a place gets none for a message; null if it gets one once the message is accepted. */
    refuse: (installationId: string, { storedAtMs, madeAtMs }: Asked): string | null => {
      if (installationId === publicInstallationId) return null;
      const throughMs = state?.forgottenThroughMs ?? null;
      if (throughMs !== null && madeAtMs <= throughMs) return describeForgotten(throughMs);
      const current = stateAt(storedAtMs);
      if (current.newLeft === 0)
        return 'new installations have taken half of the places that were free on this day';
      if (countTaken() >= max && findIdle(current, storedAtMs) === null)
        return `${max} other installations have places`;
      return null;
    },

    /**
     * Gives an installation its place, whose message was not refused one.
     *
     * @returns installations that were forgotten for it.
     */
    take: (installationId: string, entry: Entry, storedAtMs: number): readonly Entry[] => {
      if (installationId === publicInstallationId) {
        entries.set(installationId, entry);
        return [];
      }
      const gone = makeRoom(storedAtMs);
      const current = stateAt(storedAtMs);
      state = { ...current, newLeft: current.newLeft - 1 };
      entries.set(installationId, entry);
      return gone;
    },

    /** The same for a message that was accepted earlier and is no longer in the stream: it had its place, however many others there are. */
    takeAgain: (installationId: string, entry: Entry, heardAtMs: number): readonly Entry[] => {
      const isPublic = installationId === publicInstallationId;
      // Publishers' times go back and forth; a day that began does not begin again.
      const gone = isPublic ? [] : makeRoom(Math.max(heardAtMs, state?.dayStartMs ?? heardAtMs));
      entries.set(installationId, entry);
      return gone;
    },
  };
}

function isIdle(heardAtMs: number, atMs: number): boolean {
  return Math.abs(atMs - heardAtMs) > idleMsMax;
}

/** Why a message is refused that may be an earlier one of an installation that gave its place up. */
export function describeForgotten(throughMs: number): string {
  return `from ${new Date(throughMs).toISOString()} or before, like what was forgotten of installations that gave their places up`;
}
