import { List } from 'immutable';
import { compareArrivals, formatArrival } from '../events/arrival.ts';
import {
  collectRecords,
  dispatchRecords,
  type FoldRecord,
  RecordRefused,
  type Restoration,
} from '../foldRecord.ts';
import type { PlacesState } from '../places.ts';
import { counterRecords } from './counterRecords.ts';
import { type DayHistory, type DaySummary, listDays, toHistory } from './dayHistory.ts';
import type { InstallationState } from './installationActor.ts';
import type { MeasurementProgress } from './measurementEvents.ts';
import { nothingPublic } from './publicState.ts';
import type { RecentRound } from './roundFold.ts';

/** Rounds per record. A small number, so that a closing round changes little. */
const roundsPerRecord = 12;

/** Content of a snapshot of the counter stream. Immutable. */
export interface CapturedCounters {
  readonly installations: readonly InstallationState[];
  readonly history: DayHistory | null;
  readonly progress: MeasurementProgress | null;
  /** Rounds of the public installation. */
  readonly recentRounds: readonly RecentRound[];
  readonly places: PlacesState | null;
}

const nothingCaptured: CapturedCounters = { installations: [], places: null, ...nothingPublic };

/** Records of `after` that differ from `before`; all records if `before` is omitted. The same object means unchanged. */
export function* encodeCounters(
  after: CapturedCounters,
  before: CapturedCounters = nothingCaptured,
): Iterable<FoldRecord> {
  const { history, progress } = after;
  if (history !== null && history !== before.history) {
    const { past, open, ...start } = history;
    yield counterRecords.history.write('', start);
    const daysBefore = before.history === null ? [] : listDays(before.history);
    const [oldest = open] = past;
    for (const { startMs } of daysBefore)
      if (startMs < oldest.startMs) yield counterRecords.day.writeChange(startMs, undefined);
    const known = new Set(daysBefore);
    for (const one of listDays(history)) if (!known.has(one)) yield encodeDay(one);
  }
  if (progress !== null && progress !== before.progress) {
    const { events, ...rest } = progress;
    yield counterRecords.progress.write('', rest);
    const known = new Set(before.progress?.events);
    const retained = new Set(events);
    for (const one of known)
      if (!retained.has(one))
        yield counterRecords.measurementEvent.writeChange(formatArrival(one), undefined);
    for (const one of retained)
      if (!known.has(one)) yield counterRecords.measurementEvent.write(formatArrival(one), one);
  }
  yield* encodeChangedRounds(before.recentRounds, after.recentRounds);
  if (after.places !== null && after.places !== before.places)
    yield counterRecords.places.write('', after.places);
  const gone = new Map(before.installations.map((one) => [installationIdOf(one), one]));
  for (const one of after.installations) {
    const installationId = installationIdOf(one);
    const known = gone.get(installationId);
    gone.delete(installationId);
    if (known === one) continue;
    const { acceptance, roundState, heardAtMs } = one;
    yield counterRecords.installation.write(installationId, { acceptance, openRound: roundState, heardAtMs });
  }
  for (const installationId of gone.keys())
    yield counterRecords.installation.writeChange(installationId, undefined);
}

function* encodeChangedRounds(
  before: readonly RecentRound[],
  after: readonly RecentRound[],
): Iterable<FoldRecord> {
  if (before === after) return;
  const known = groupRounds(before);
  const groups = groupRounds(after);
  for (const record of known.keys())
    if (!groups.has(record)) yield counterRecords.recentRounds.writeChange(record, undefined);
  for (const [record, rounds] of groups) {
    const previous = known.get(record);
    // Rounds are added at the end and removed at the beginning.
    const isSame = previous?.[0] === rounds[0] && previous?.at(-1) === rounds.at(-1);
    if (!isSame) yield counterRecords.recentRounds.write(record, rounds);
  }
}

function groupRounds(rounds: readonly RecentRound[]): ReadonlyMap<number, readonly RecentRound[]> {
  const groups = new Map<number, RecentRound[]>();
  for (const round of rounds) {
    const record = Math.floor(round.roundId / roundsPerRecord);
    const group = groups.get(record);
    if (group === undefined) groups.set(record, [round]);
    else group.push(round);
  }
  return groups;
}

function installationIdOf({ acceptance }: InstallationState): string {
  return acceptance.latest.installationId;
}

function encodeDay({ rounds, ...rest }: DaySummary): FoldRecord {
  return counterRecords.day.write(rest.startMs, { ...rest, rounds: rounds === null ? null : [...rounds] });
}

/**
 * The records of `captured`, with one installation's state taken from `other`, including history and rounds if the installation is public.
 */
export function replaceInstallation(
  captured: Iterable<FoldRecord>,
  other: Iterable<FoldRecord>,
  { installationId, isPublic }: { readonly installationId: string; readonly isPublic: boolean },
): readonly FoldRecord[] {
  const isOf = ({ kind, key }: FoldRecord) => {
    if (kind === counterRecords.installation.kind) return key === installationId;
    return kind !== counterRecords.places.kind && isPublic;
  };
  return [...[...captured].filter((record) => !isOf(record)), ...[...other].filter(isOf)];
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
      recentRounds: [...rounds.values.values()].flat().sort((a, b) => a.roundId - b.roundId),
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
