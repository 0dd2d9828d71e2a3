import { findFirstIndex } from '../../actors/events/findFirstIndex.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';

/** Readings in memory by default, about 10 MB. */
export const readingsRetained = 20_000;
/** Evicted readings are cut off an array once they are at least this many and half of it. */
const cutMin = 64;

/** Memory holds every accepted reading above this position. */
export interface ReadingsFloor {
  readonly position: number;
  /** The newest reading up to this position that was in memory; null if memory began after a snapshot. */
  readonly evicted: CounterReading | null;
}

interface RecentReadingsOptions {
  /** A reading above this position is never evicted, since it may not be stored yet. */
  readonly storedThrough: () => number;
  /** Readings in memory, for all installations together. */
  readonly retained?: number;
}

interface Tail {
  readings: CounterReading[];
  /** Index of the oldest reading that is still in memory. */
  start: number;
}

export type RecentReadings = ReturnType<typeof createRecentReadings>;

/** The newest accepted readings of all installations, in order of position. */
export function createRecentReadings({ storedThrough, retained = readingsRetained }: RecentReadingsOptions) {
  const all: Tail = { readings: [], start: 0 };
  const byInstallation = new Map<string, Tail>();
  let floor: ReadingsFloor = { position: 0, evicted: null };

  function add(reading: CounterReading) {
    all.readings.push(reading);
    findOrCreateTail(reading.installationId).readings.push(reading);
    const stored = storedThrough();
    while (all.readings.length - all.start > retained) {
      const oldest = all.readings[all.start] as CounterReading;
      if (oldest.position > stored) break;
      evict(oldest);
    }
  }

  function findOrCreateTail(installationId: string): Tail {
    const known = byInstallation.get(installationId);
    if (known !== undefined) return known;
    const tail = { readings: [], start: 0 };
    byInstallation.set(installationId, tail);
    return tail;
  }

  function evict(oldest: CounterReading) {
    floor = { position: oldest.position, evicted: oldest };
    drop(all);
    const tail = byInstallation.get(oldest.installationId) as Tail;
    drop(tail);
    if (tail.start === tail.readings.length) byInstallation.delete(oldest.installationId);
  }

  /** At most `limit` readings of the installation above `position`, ascending. */
  function page(installationId: string, position: number, limit: number): CounterReading[] {
    const tail = byInstallation.get(installationId);
    if (tail === undefined) return [];
    const from = firstAbove(tail, position);
    return tail.readings.slice(from, from + limit);
  }

  function clear(newFloor: ReadingsFloor) {
    all.readings = [];
    all.start = 0;
    byInstallation.clear();
    floor = newFloor;
  }

  return {
    add,
    floor: () => floor,
    page,
    /** Forgets everything; later readings are above `position`. */
    reset: (position: number) => clear({ position, evicted: null }),
    /** Forgets everything: readings up to `position` are stored but skip memory. Later readings are above it. */
    skipTo: (position: number) => clear({ position, evicted: all.readings.at(-1) ?? floor.evicted }),
    get size() {
      return all.readings.length - all.start;
    },
  };
}

function drop(tail: Tail) {
  tail.start++;
  if (tail.start < cutMin || tail.start * 2 < tail.readings.length) return;
  tail.readings = tail.readings.slice(tail.start);
  tail.start = 0;
}

function firstAbove({ readings, start }: Tail, position: number): number {
  const isAbove = (index: number) => (readings[start + index] as CounterReading).position > position;
  return start + findFirstIndex(readings.length - start, isAbove);
}
