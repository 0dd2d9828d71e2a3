import { List } from 'immutable';
import { compareArrivals, formatArrival } from '../events/arrival.ts';
import {
  collectRecords,
  dispatchRecords,
  type FoldRecord,
  RecordRefused,
  type Restoration,
} from '../folds/foldRecord.ts';
import type { PlacesState } from '../folds/places.ts';
import { counterRecords } from './counterRecords.ts';
import { type DayHistory, type DaySummary, listDays, toHistory } from './dayHistory.ts';
import type { InstallationState } from './installationActor.ts';
import type { MeasurementProgress } from './measurementEvents.ts';
import type { RecentRound } from './roundFold.ts';

/** Content of a snapshot of the counter stream. Immutable. */
export interface CapturedCounters {
  readonly installations: readonly InstallationState[];
  readonly history: DayHistory | null;
  readonly progress: MeasurementProgress | null;
  /** Rounds of the public installation. */
  readonly recentRounds: readonly RecentRound[];
  readonly places: PlacesState | null;
}

/** The records of a state. */
export function* encodeCounters({
  installations,
  history,
  progress,
  recentRounds,
  places,
}: CapturedCounters): Iterable<FoldRecord> {
  if (history !== null) {
    const { past: _p, open: _o, ...start } = history;
    yield counterRecords.history.write('', start);
    for (const one of listDays(history)) yield encodeDay(one);
  }
  if (progress !== null) {
    const { events, ...rest } = progress;
    yield counterRecords.progress.write('', rest);
    for (const one of events) yield counterRecords.measurementEvent.write(formatArrival(one), one);
  }
  if (recentRounds.length > 0) yield counterRecords.recentRounds.write('', recentRounds);
  if (places !== null) yield counterRecords.places.write('', places);
  for (const { acceptance, roundState, heardAtMs } of installations) {
    const { installationId } = acceptance.latest;
    yield counterRecords.installation.write(installationId, { acceptance, openRound: roundState, heardAtMs });
  }
}

function encodeDay({ rounds, ...rest }: DaySummary): FoldRecord {
  return counterRecords.day.write(rest.startMs, { ...rest, rounds: rounds === null ? null : [...rounds] });
}

/** Takes the records of {@link encodeCounters}. */
export function createCounterRestoration(): Restoration<CapturedCounters> {
  const installations = collectRecords(counterRecords.installation);
  const rounds = collectRecords(counterRecords.recentRounds);
  const places = collectRecords(counterRecords.places);
  const histories = collectRecords(counterRecords.history);
  const days = collectRecords(counterRecords.day);
  const progresses = collectRecords(counterRecords.progress);
  const events = collectRecords(counterRecords.measurementEvent);

  function complete(): CapturedCounters {
    const history = histories.values.get('');
    const progress = progresses.values.get('');
    if ((history === undefined) !== (days.values.size === 0))
      throw new RecordRefused('the records of a history are incomplete');
    if (history === undefined && rounds.values.size > 0)
      throw new RecordRefused('rounds have records, but the history has none');
    if (progress === undefined && events.values.size > 0)
      throw new RecordRefused('measurement events have records, but their progress has none');
    const summaries = [...days.values.values()].map(({ rounds, ...rest }) => ({
      ...rest,
      rounds: rounds === null ? null : new Map(rounds),
    }));
    summaries.sort((a, b) => a.startMs - b.startMs);
    return {
      installations: Array.from(installations.values.values(), ({ acceptance, openRound, heardAtMs }) => ({
        acceptance,
        roundState: openRound,
        heardAtMs,
      })),
      places: places.values.get('') ?? null,
      recentRounds: rounds.values.get('') ?? [],
      history: history === undefined ? null : toHistory(history, summaries),
      progress:
        progress === undefined
          ? null
          : { ...progress, events: List([...events.values.values()].sort(compareArrivals)) },
    };
  }

  return {
    add: dispatchRecords(installations, rounds, places, histories, days, progresses, events),
    complete,
  };
}
