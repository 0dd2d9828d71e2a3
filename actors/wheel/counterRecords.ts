import { z } from 'zod';
import { measurementEvent } from '../events/eventSchemas.ts';
import { evictedEvents } from '../events/eventWindow.ts';
import { defineRecord } from '../folds/foldRecord.ts';
import { placesState } from '../folds/places.ts';
import { amount, count, milliseconds } from '../schemas/stateScalars.ts';
import { acceptanceState } from './acceptance.ts';
import { daySums, historyStart } from './dayHistory.ts';
import { progressScalars } from './measurementEvents.ts';
import { openRound, recentRound } from './roundFold.ts';

const installation = z.strictObject({ acceptance: acceptanceState, openRound, heardAtMs: milliseconds });

/** A day with its rounds as pairs of place and work, since JSON has no map. */
const day = daySums.extend({ rounds: z.array(z.tuple([count, amount])).nullable() });

const progress = progressScalars.extend({ run: z.string(), evicted: evictedEvents });

export const counterRecords = {
  /** By installation. */
  installation: defineRecord('installation', installation),
  /** One, with an empty key, once a new installation has asked for a place. */
  places: defineRecord('places', placesState),
  /** Rounds of the public installation. One, with an empty key, once it has any. */
  recentRounds: defineRecord('recentRounds', z.array(recentRound)),
  /** One, with an empty key, once the public installation has a reading. */
  history: defineRecord('history', historyStart),
  /** Days of the public installation, by start. */
  day: defineRecord('day', day),
  /** One, with an empty key, once the public installation has a reading. */
  progress: defineRecord('progress', progress),
  /** Events of the public installation, by `formatArrival`. */
  measurementEvent: defineRecord('measurementEvent', measurementEvent),
} as const;
