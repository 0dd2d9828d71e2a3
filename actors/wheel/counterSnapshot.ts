import { List } from 'immutable';
import { compareArrivals, formatArrival } from '../events/arrival.ts';
import {
  collectRecords,
  dispatchRecords,
  type FoldRecord,
  RecordRefused,
  type RecordValue,
  type Restoration,
} from '../foldRecord.ts';
import { counterRecords } from './counterRecords.ts';
import { type DayHistory, type DaySummary, listDays, toHistory } from './dayHistory.ts';
import type { InstallationState } from './installationActor.ts';
import type { MeasurementProgress } from './measurementEvents.ts';
import type { RecentRound } from './roundFold.ts';

/** Rounds per record. A small number, so that a closing round changes little. */
const roundsPerRecord = 12;

/** Content of a snapshot of the counter stream. Immutable. */
export interface CapturedCounters {
  readonly installations: readonly InstallationState[];
  readonly history: DayHistory | null;
  readonly progress: MeasurementProgress | null;
}

const nothingCaptured: CapturedCounters = { installations: [], history: null, progress: null };

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
  const installations = new Map(before.installations.map((one) => [installationIdOf(one), one]));
  for (const one of after.installations) {
    const known = installations.get(installationIdOf(one));
    if (known === one) continue;
    const { recentRounds, ...open } = one.roundState;
    yield counterRecords.installation.write(installationIdOf(one), {
      acceptance: one.acceptance,
      openRound: open,
    });
    yield* encodeChangedRounds(known ?? null, one);
  }
}

function* encodeChangedRounds(
  before: InstallationState | null,
  after: InstallationState,
): Iterable<FoldRecord> {
  if (before?.roundState.recentRounds === after.roundState.recentRounds) return;
  const known = before === null ? new Map<number, readonly RecentRound[]>() : groupRounds(before);
  const groups = groupRounds(after);
  for (const record of known.keys()) if (!groups.has(record)) yield writeRounds(after, record, undefined);
  for (const [record, rounds] of groups) {
    const previous = known.get(record);
    // Rounds are added at the end and removed at the beginning.
    const isSame = previous?.[0] === rounds[0] && previous?.at(-1) === rounds.at(-1);
    if (!isSame) yield writeRounds(after, record, rounds);
  }
}

function groupRounds({ roundState }: InstallationState): ReadonlyMap<number, readonly RecentRound[]> {
  const groups = new Map<number, RecentRound[]>();
  for (const round of roundState.recentRounds) {
    const record = Math.floor(round.roundId / roundsPerRecord);
    const group = groups.get(record);
    if (group === undefined) groups.set(record, [round]);
    else group.push(round);
  }
  return groups;
}

function writeRounds(
  of: InstallationState,
  record: number,
  rounds: readonly RecentRound[] | undefined,
): FoldRecord {
  return counterRecords.recentRounds.writeChange(`${installationIdOf(of)}/${record}`, rounds);
}

function installationIdOf({ acceptance }: InstallationState): string {
  return acceptance.latest.installationId;
}

function encodeDay({ rounds, ...rest }: DaySummary): FoldRecord {
  return counterRecords.day.write(rest.startMs, { ...rest, rounds: rounds === null ? null : [...rounds] });
}

/**
 * The records of `captured`, with one installation's state taken from `other`, including the history if the installation is public.
 */
export function replaceInstallation(
  captured: Iterable<FoldRecord>,
  other: Iterable<FoldRecord>,
  { installationId, isPublic }: { readonly installationId: string; readonly isPublic: boolean },
): readonly FoldRecord[] {
  const isOf = ({ kind, key }: FoldRecord) => {
    if (kind === counterRecords.installation.kind) return key === installationId;
    return kind === counterRecords.recentRounds.kind ? key.startsWith(`${installationId}/`) : isPublic;
  };
  return [...[...captured].filter((record) => !isOf(record)), ...[...other].filter(isOf)];
}

/** Takes the records of {@link encodeCounters}. */
export function createCounterRestoration(): Restoration<CapturedCounters> {
  const installations = collectRecords(counterRecords.installation);
  const rounds = collectRecords(counterRecords.recentRounds);
  const histories = collectRecords(counterRecords.history);
  const days = collectRecords(counterRecords.day);
  const progresses = collectRecords(counterRecords.progress);
  const events = collectRecords(counterRecords.measurementEvent);

  function complete(): CapturedCounters {
    const history = histories.values.get('');
    const progress = progresses.values.get('');
    if ((history === undefined) !== (days.values.size === 0))
      throw new RecordRefused('the records of a history are incomplete');
    if (progress === undefined && events.values.size > 0)
      throw new RecordRefused('measurement events have records, but their progress has none');
    const summaries = [...days.values.values()].map(({ rounds, ...rest }) => ({
      ...rest,
      rounds: rounds === null ? null : new Map(rounds),
    }));
    summaries.sort((a, b) => a.startMs - b.startMs);
    return {
      installations: joinRounds(installations.values, rounds.values),
      history: history === undefined ? null : toHistory(history, summaries),
      progress:
        progress === undefined
          ? null
          : { ...progress, events: List([...events.values.values()].sort(compareArrivals)) },
    };
  }

  return { add: dispatchRecords(installations, rounds, histories, days, progresses, events), complete };
}

function joinRounds(
  installations: ReadonlyMap<string, RecordValue<typeof counterRecords.installation>>,
  records: ReadonlyMap<string, readonly RecentRound[]>,
): InstallationState[] {
  const roundsOf = new Map<string, RecentRound[]>();
  for (const [key, rounds] of records) {
    const installationId = key.slice(0, key.indexOf('/'));
    if (!installations.has(installationId))
      throw new RecordRefused(`rounds of ${installationId} have records, but the installation has none`);
    const known = roundsOf.get(installationId);
    if (known === undefined) roundsOf.set(installationId, [...rounds]);
    else known.push(...rounds);
  }
  return Array.from(installations, ([installationId, { acceptance, openRound }]) => {
    const rounds = roundsOf.get(installationId) ?? [];
    rounds.sort((a, b) => a.roundId - b.roundId);
    return { acceptance, roundState: { ...openRound, recentRounds: rounds } };
  });
}
