import { z } from 'zod';
import { arrival, measurementEvent } from '../events/eventSchemas.ts';
import { defineRecord } from '../foldRecord.ts';
import { coreStatuses, provenances } from './counterReading.ts';

const amount = z.bigint();
const count = z.int().min(0);
const milliseconds = z.int();

const acceptedReading = z.strictObject({
  telemetryId: z.string(),
  installationId: z.string(),
  bootId: z.string(),
  sequence: count,
  observedAtMs: milliseconds,
  receivedAtMs: milliseconds,
  counterEpoch: z.string(),
  cumulativeWorkUnits: amount,
  provenance: z.enum(provenances),
  softwareVersion: z.string().nullable(),
  coreStatus: z.enum(coreStatuses),
  rpmMilli: count,
  speedMmPerSecond: count,
  distanceMm: count,
  position: count,
});

const recentRounds = z.array(z.strictObject({ roundId: z.int(), workUnits: amount }));

const installation = z.strictObject({
  acceptance: z.strictObject({
    latest: acceptedReading,
    earlierBoots: z.array(z.strictObject({ bootId: z.string(), sequence: count })),
    earlierEpochs: z.array(z.strictObject({ counterEpoch: z.string(), cumulativeWorkUnits: amount })),
  }),
  activity: z.strictObject({
    coveredFromMs: milliseconds,
    openRoundWorkUnits: amount,
    bucket: z.strictObject({
      startMs: milliseconds,
      observedRoundCount: count,
      workUnits: amount,
      readingCount: count,
      maxDistanceMm: count,
      peakRpmMilli: count,
      peakRpmAtMs: milliseconds,
      peakSpeedMmPerSecond: count,
      peakSpeedAtMs: milliseconds,
    }),
  }),
});

const peak = z.strictObject({ value: count, atMs: milliseconds }).nullable();

/** JSON has no map: rounds are pairs of a place in the day and its work. */
const day = z.strictObject({
  startMs: milliseconds,
  observedRoundCount: count,
  workUnits: amount,
  distanceMm: count.nullable(),
  peakRpmMilli: peak,
  peakSpeedMmPerSecond: peak,
  rounds: z.array(z.tuple([count, amount])).nullable(),
});

/** Left out while there are no earlier days. */
const history = z.strictObject({
  firstObservedAtMs: milliseconds,
  earlier: z
    .strictObject({
      activeDayCount: count,
      observedRoundCount: count,
      workUnits: amount,
      distanceMm: amount,
    })
    .optional(),
});

const progress = z.strictObject({
  run: z.string(),
  earlierDaysMm: amount,
  dayStartMs: milliseconds,
  nextDistanceMm: amount,
  dailyReached: count,
  speedsReached: count,
  recordMm: count.nullable(),
  streakDayMs: milliseconds.nullable(),
  streakDays: count,
  givenUp: z.strictObject({ through: arrival.nullable(), throughMs: milliseconds, atPosition: count }),
});

/** Kinds of records that the state of the counter stream consists of. */
export const counterRecords = {
  /** By installation. */
  installation: defineRecord('installation', installation),
  /** By installation, and the number of the record. */
  recentRounds: defineRecord('recentRounds', recentRounds),
  /** One, with an empty key, once the public installation has a reading. */
  history: defineRecord('history', history),
  /** Of the public installation, by its start. */
  day: defineRecord('day', day),
  /** One, with an empty key, once the public installation has a reading. */
  progress: defineRecord('progress', progress),
  /** Of the public installation, by `formatArrival`. */
  measurementEvent: defineRecord('measurementEvent', measurementEvent),
} as const;
