import { List } from 'immutable';
import { z } from 'zod';
import { compareArrivals, formatArrival } from '../events/arrival.ts';
import { measurementEvent } from '../events/eventSchemas.ts';
import { evictedEvents } from '../events/eventWindow.ts';
import {
  kindsOf,
  listBy,
  listOne,
  RecordRefused,
  type Restoration,
  restoreInto,
} from '../folds/foldRecord.ts';
import { type PlacesState, placesState } from '../folds/places.ts';
import { amount, count, milliseconds } from '../schemas/stateScalars.ts';
import { acceptanceState } from './acceptance.ts';
import {
  type DayHistory,
  type DaySummary,
  daySums,
  historyStart,
  listDays,
  toHistory,
} from './dayHistory.ts';
import type { InstallationState } from './installationActor.ts';
import { type MeasurementProgress, progressScalars } from './measurementEvents.ts';
import { openRound } from './roundFold.ts';

/** Content of a snapshot of the counter stream. Immutable. */
export interface CapturedCounters {
  readonly installations: readonly InstallationState[];
  readonly history: DayHistory | null;
  readonly progress: MeasurementProgress | null;
  readonly places: PlacesState | null;
}

const installation = z.strictObject({ acceptance: acceptanceState, openRound, heardAtMs: milliseconds });

/** A day with its rounds as pairs of place and work, since JSON has no map. */
const day = daySums.extend({ rounds: z.array(z.tuple([count, amount])).nullable() });

const progress = progressScalars.extend({ evicted: evictedEvents });

const createDraft = () => ({
  installations: [] as InstallationState[],
  places: [] as PlacesState[],
  history: [] as z.input<typeof historyStart>[],
  days: [] as DaySummary[],
  progress: [] as z.input<typeof progress>[],
  events: [] as z.input<typeof measurementEvent>[],
});

const define = kindsOf<CapturedCounters, ReturnType<typeof createDraft>>();

/** What is not of an installation or of its places is of the public one. */
export const counterKinds = [
  // By installation.
  define('installation', installation, {
    *list({ installations }) {
      for (const { acceptance, roundState, heardAtMs } of installations)
        yield [acceptance.latest.installationId, { acceptance, openRound: roundState, heardAtMs }];
    },
    restore: ({ installations }, { acceptance, openRound: roundState, heardAtMs }) =>
      installations.push({ acceptance, roundState, heardAtMs }),
  }),
  // Once a new installation has asked for a place.
  define('places', placesState, {
    list: ({ places }) => listOne(places),
    restore: ({ places }, one) => places.push(one),
  }),
  define('history', historyStart, {
    list: ({ history }) => listOne(history),
    restore: ({ history }, one) => history.push(one),
  }),
  // By start.
  define('day', day, {
    *list({ history }) {
      for (const { rounds, ...rest } of history === null ? [] : listDays(history))
        yield [rest.startMs, { ...rest, rounds: rounds === null ? null : [...rounds] }];
    },
    restore: ({ days }, { rounds, ...rest }) =>
      days.push({ ...rest, rounds: rounds === null ? null : new Map(rounds) }),
  }),
  define('progress', progress, {
    list: (captured) => listOne(captured.progress),
    restore: (draft, one) => draft.progress.push(one),
  }),
  define('measurementEvent', measurementEvent, {
    list: (captured) => listBy(formatArrival, captured.progress?.events ?? []),
    restore: ({ events }, one) => events.push(one),
  }),
];

const restore = restoreInto(counterKinds);

/** Restores a state from its records. */
export function createCounterRestoration(): Restoration<CapturedCounters> {
  const draft = createDraft();

  function complete(): CapturedCounters {
    const { installations, days, events } = draft;
    const [places = null] = draft.places;
    const [history = null] = draft.history;
    const [progressed = null] = draft.progress;
    if ((history === null) !== (days.length === 0))
      throw new RecordRefused('the records of a history are incomplete');
    if (progressed === null && events.length > 0)
      throw new RecordRefused('measurement events have records, but their progress has none');
    days.sort((a, b) => a.startMs - b.startMs);
    events.sort(compareArrivals);
    return {
      installations,
      places,
      history: history && toHistory(history, days),
      progress: progressed && { ...progressed, events: List(events) },
    };
  }

  return { add: (record) => restore(draft, record), complete };
}
