import type { MeasurementEvent } from '../events/eventSchemas.ts';
import { evictOldest } from '../events/eventWindow.ts';
import type { CounterReading } from './counterReading.ts';
import { type DayHistory, withReading } from './dayHistory.ts';
import { addAchievements, type MeasurementProgress } from './measurementEvents.ts';
import type { RoundRow } from './roundFold.ts';

export interface PublicState {
  history: DayHistory | null;
  progress: MeasurementProgress | null;
}

export const nothingPublic: Readonly<PublicState> = { history: null, progress: null };

interface PublicReading {
  readonly reading: CounterReading;
  readonly round: RoundRow | null;
  /** When the stream stored the reading (epoch milliseconds). */
  readonly storedAtMs: number;
}

/** @returns the evicted events, if any. */
export function addPublicReading(
  state: PublicState,
  { reading, round, storedAtMs }: PublicReading,
): readonly MeasurementEvent[] | null {
  const previousDayMm = state.history?.open.distanceMm ?? 0;
  state.history = withReading(state.history, reading, round);
  const dayMm = state.history.open.distanceMm ?? 0;
  const before = state.progress;
  const progress = addAchievements(before, reading, { dayMm, previousDayMm, storedAtMs });
  state.progress = progress;
  if (progress.events === before?.events) return null;
  const shorter = evictOldest(progress, {
    recordedAtMs: ({ receivedAtMs }) => receivedAtMs,
    canEvict: () => true,
    position: reading.position,
  });
  if (shorter === null) return null;
  state.progress = { ...progress, ...shorter.window };
  return shorter.evicted;
}
