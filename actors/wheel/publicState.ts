import type { MeasurementEvent } from '../events/eventSchemas.ts';
import { evictOldest } from '../events/eventWindow.ts';
import type { StoredAt } from '../messages/streamMessage.ts';
import type { CounterReading } from './counterReading.ts';
import { type DayHistory, withReading } from './dayHistory.ts';
import { addAchievements, type MeasurementProgress } from './measurementEvents.ts';
import type { RoundRow } from './roundFold.ts';

export interface PublicState {
  history: DayHistory | null;
  progress: MeasurementProgress | null;
}

/** Evicted events of the feed, with the run of the fold. */
export interface EvictedMeasurements {
  readonly run: string;
  readonly events: readonly MeasurementEvent[];
}

interface PublicReading {
  readonly reading: CounterReading;
  readonly round: RoundRow | null;
  readonly stored: StoredAt;
}

/** @returns the evicted events, if any. */
export function addPublicReading(
  state: PublicState,
  { reading, round, stored }: PublicReading,
): EvictedMeasurements | null {
  const previousDayMm = state.history?.open.distanceMm ?? 0;
  state.history = withReading(state.history, reading, round);
  const dayMm = state.history.open.distanceMm ?? 0;
  const before = state.progress;
  const progress = addAchievements(before, reading, { dayMm, previousDayMm, stored });
  state.progress = progress;
  if (progress.events === before?.events) return null;
  const shorter = evictOldest(progress, {
    recordedAtMs: ({ receivedAtMs }) => receivedAtMs,
    canEvict: () => true,
    position: reading.position,
  });
  if (shorter === null) return null;
  state.progress = { ...progress, ...shorter.window };
  return { run: progress.run, events: shorter.evicted };
}
