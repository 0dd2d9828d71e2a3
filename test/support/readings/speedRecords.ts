import { addAchievements, type MeasurementProgress } from '../../../actors/wheel/measurementEvents.ts';
import { recordStep } from '../chain/feedEvents.ts';
import { acceptedReading } from './acceptedReading.ts';

/** Progress that a test drives: each reading has a record of the speed, which is an event. */
export function createSpeedRecords() {
  let progress: MeasurementProgress | null = null;
  let count = 0;
  function addOne() {
    count++;
    const observedAtMs = Date.UTC(2026, 0, 31, 12) + count * 1_000;
    const reading = acceptedReading({ position: count, observedAtMs, speedMmPerSecond: count * recordStep });
    progress = addAchievements(progress, reading, {
      dayMm: 0,
      previousDayMm: 0,
      storedAtMs: observedAtMs,
    });
  }
  return {
    progress: () => progress,
    replace: (next: MeasurementProgress) => {
      progress = next;
    },
    add: (more = 1) => {
      for (let index = 0; index < more; index++) addOne();
    },
  };
}
