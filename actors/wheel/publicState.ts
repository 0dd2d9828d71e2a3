import { evictOldest } from '../feed/eventWindow.ts';
import {
  addAchievements,
  type MeasurementEvent,
  type MeasurementProgress,
} from '../feed/measurementEvents.ts';
import type { StoredAt } from '../messages/streamMessage.ts';
import { type DayHistory, withReading } from '../statistics/dayHistory.ts';
import type { RoundRow } from '../storedRows.ts';
import type { MeasuredReading } from './acceptedReading.ts';
import { type PublicReadings, readPublicReading } from './publicReadings.ts';

/** What is folded of the public installation alone. */
export interface PublicState {
  history: DayHistory | null;
  progress: MeasurementProgress | null;
}

/** Events of the feed that have left memory, with the run of the fold. */
export interface EvictedMeasurements {
  readonly run: string;
  readonly events: readonly MeasurementEvent[];
}

/**
 * @param round the one that the reading closed, if any.
 * @returns the events that have left memory, if any.
 */
export function addPublicReading(
  state: PublicState,
  reading: MeasuredReading,
  round: RoundRow | null,
  stored: StoredAt,
): EvictedMeasurements | null {
  const previousDayMm = state.history?.open.distanceMm ?? 0;
  state.history = withReading(state.history, reading, round);
  const dayMm = state.history.open.distanceMm ?? 0;
  const before = state.progress;
  state.progress = addAchievements(before, reading, dayMm, previousDayMm, stored);
  return state.progress.events === before?.events ? null : evictOldEvents(state, reading.position);
}

/** Takes the readings of a range, one after another: distances and records of a lifetime are sums that a range does not know. */
export function addPublicReadings(
  state: PublicState,
  readings: PublicReadings,
  lateRounds: readonly RoundRow[],
): EvictedMeasurements[] {
  const late = new Map(lateRounds.map((round) => [round.position, round]));
  const evicted: EvictedMeasurements[] = [];
  for (const [index, timestampNanos] of readings.storedAtNanos.entries()) {
    const reading = readPublicReading(readings, index);
    const round = readings.closed.get(index) ?? late.get(reading.position) ?? null;
    const left = addPublicReading(state, reading, round, { timestampNanos });
    if (left !== null) evicted.push(left);
  }
  return evicted;
}

function evictOldEvents(state: PublicState, position: number): EvictedMeasurements | null {
  const { progress } = state;
  if (progress === null) return null;
  const shorter = evictOldest(
    progress,
    ({ receivedAtMs }) => receivedAtMs,
    () => true,
    position,
  );
  if (shorter === null) return null;
  state.progress = { ...progress, ...shorter.window };
  return { run: progress.run, events: shorter.evicted };
}
