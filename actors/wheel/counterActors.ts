import { List } from 'immutable';
import { parse, stringify } from '../bigintJson.ts';
import { evictOldest } from '../feed/eventWindow.ts';
import {
  addAchievements,
  type MeasurementEvent,
  type MeasurementProgress,
} from '../feed/measurementEvents.ts';
import { type FoldIdentity, identifyFold } from '../foldIdentity.ts';
import type { StreamMessage } from '../messages/streamMessage.ts';
import {
  type DayHistory,
  decodeHistory,
  type EncodedHistory,
  encodeHistory,
  withReading,
} from '../statistics/dayHistory.ts';
import type { TelemetryView } from '../views/views.ts';
import type { ActivityState } from './activityFold.ts';
import type { CounterReading, StoredReading } from './counterReading.ts';
import { decodeCounter } from './decodeCounter.ts';
import { createInstallationActor, type InstallationActor, type ReadingOutcome } from './installationActor.ts';
import { decodeInstallationState, encodeInstallationState } from './installationSnapshot.ts';

/** Version of the folds of `MINER_COUNTER`: a snapshot of another version is not restored; the stream is replayed. */
export const counterFoldVersion = 6;

const nanosPerMillisecond = 1_000_000n;

/** What became of a message of `MINER_COUNTER`. */
export type CounterOutcome = ReadingOutcome & {
  /** Events of the feed that have left memory, with the run of the fold; left out without any. */
  readonly evicted?: { readonly run: string; readonly events: readonly MeasurementEvent[] };
};

/** The actors of `MINER_COUNTER`, one per installation that the stream has readings of. */
export interface CounterActors {
  readonly identity: FoldIdentity;
  receive(message: StreamMessage): CounterOutcome;
  /** Takes a reading whose message has left the stream, as ClickHouse holds it. */
  receiveStored(reading: StoredReading): CounterOutcome;
  /** Offline for an installation that has published nothing. */
  telemetry(installationId: string, nowMs: number): TelemetryView;
  /** Days of the public installation; null before its first reading. The same until a reading changes it. */
  history(): DayHistory | null;
  /** What the public installation has reached; null before its first reading. The same until something is reached. */
  achievements(): MeasurementProgress | null;
  /** Observed and open rounds, as projections need them; null for an installation that has published nothing. */
  activity(installationId: string): ActivityState | null;
  readonly installationCount: number;
  /**
   * The state as it is at this call, one line of JSON per installation; the lines are made while they are iterated,
   * from immutable values, while folding continues.
   */
  capture(): Iterable<string>;
  /**
   * Replaces all state at once by captured lines, and folds on from there. What was shown before stays shown until
   * `reveal`, so that no view goes back in time.
   */
  restore(lines: Iterable<string>): void;
  /** Shows what is folded. */
  reveal(): void;
}

export interface CounterActorsSettings {
  /** Start of round 1 (epoch milliseconds). */
  readonly genesisMs: number;
  /** The installation whose statistics are computed. */
  readonly publicInstallationId: string;
}

export function createCounterActors(settings: CounterActorsSettings): CounterActors {
  const { genesisMs, publicInstallationId } = settings;
  let folded: Folded | null = null;
  let shown: Folded = { actors: new Map(), history: null, progress: null };

  function findOrCreateActor({ actors }: Folded, installationId: string): InstallationActor {
    const known = actors.get(installationId);
    if (known !== undefined) return known;
    const actor = createInstallationActor(installationId, genesisMs, null);
    actors.set(installationId, actor);
    return actor;
  }

  function receive(message: StreamMessage): CounterOutcome {
    const decoded = decodeCounter(message.subject, message.data);
    if ('rejection' in decoded) return decoded;
    return take(decoded.value, message.seq, message.timestampNanos);
  }

  function take(reading: CounterReading, position: number, storedAtNanos: bigint): CounterOutcome {
    const { installationId } = reading;
    folded ??= shown;
    const outcome = findOrCreateActor(folded, installationId).receive(reading, position);
    if (installationId === publicInstallationId && 'reading' in outcome) {
      const previousDayMm = folded.history?.open.distanceMm ?? 0;
      folded.history = withReading(folded.history, outcome.reading, outcome.closed.round);
      const dayMm = folded.history.open.distanceMm ?? 0;
      const before = folded.progress;
      folded.progress = addAchievements(before, outcome.reading, dayMm, previousDayMm, storedAtNanos);
      if (folded.progress.events !== before?.events)
        return { ...outcome, ...evictOldEvents(folded, position) };
    }
    return outcome;
  }

  function telemetry(installationId: string, nowMs: number): TelemetryView {
    const actor = shown.actors.get(installationId);
    if (actor !== undefined) return actor.telemetry(nowMs);
    return { installationId, freshness: 'offline', revision: null, reading: null };
  }

  function capture(): Iterable<string> {
    const { actors, history, progress } = folded ?? shown;
    const states = [...actors.values()].map((actor) => actor.state());
    const days = history === null ? null : encodeHistory(history);
    const kept = {
      installationId: publicInstallationId,
      days,
      progress: progress === null ? null : encodeProgress(progress),
    };
    return encoded(states, kept);
  }

  function restore(lines: Iterable<string>) {
    const restored: Folded = { actors: new Map(), history: null, progress: null };
    for (const line of lines) {
      const kept = parseHistoryLine(line);
      if (kept !== null) {
        restored.history = kept.days === null ? null : decodeHistory(kept.days);
        restored.progress = kept.progress === null ? null : decodeProgress(kept.progress);
        continue;
      }
      const state = decodeInstallationState(line);
      const { installationId } = state.acceptance.latest;
      restored.actors.set(installationId, createInstallationActor(installationId, genesisMs, state));
    }
    // Before the first restoration nothing is shown that could go back.
    if (folded === null) shown = restored;
    folded = restored;
  }

  return {
    identity: identifyFold(counterFoldVersion, { genesisMs, publicInstallationId }),
    receive,
    // When its message was stored is not known any more; the gateway had it just before.
    receiveStored: (reading) =>
      take(reading, reading.position, BigInt(reading.receivedAtMs) * nanosPerMillisecond),
    telemetry,
    history: () => shown.history,
    achievements: () => shown.progress,
    activity: (installationId) => shown.actors.get(installationId)?.state()?.activity ?? null,
    get installationCount() {
      return shown.actors.size;
    },
    capture,
    restore,
    reveal: () => {
      if (folded !== null) shown = folded;
    },
  };
}

/** All state of the folds at one position. */
interface Folded {
  readonly actors: Map<string, InstallationActor>;
  history: DayHistory | null;
  progress: MeasurementProgress | null;
}

function evictOldEvents(folded: Folded, position: number): Pick<CounterOutcome, 'evicted'> {
  const { progress } = folded;
  if (progress === null) return {};
  const shorter = evictOldest(
    progress,
    ({ receivedAtMs }) => receivedAtMs,
    () => true,
    position,
  );
  if (shorter === null) return {};
  folded.progress = { ...progress, ...shorter.window };
  return { evicted: { run: progress.run, events: shorter.evicted } };
}

/**
 * The lines of `captured` with one installation's state as the lines of `other` have it, and with its history, where it is
 * the public one.
 */
export function replaceInstallation(
  captured: readonly string[],
  other: readonly string[],
  installationId: string,
): string[] {
  const isOfInstallation = (line: string) => {
    const kept = parseHistoryLine(line);
    if (kept !== null) return kept.installationId === installationId;
    return decodeInstallationState(line).acceptance.latest.installationId === installationId;
  };
  const lines = [...captured.filter((line) => !isOfInstallation(line)), ...other.filter(isOfInstallation)];
  // The history comes first.
  return [...lines.filter(isHistory), ...lines.filter((line) => !isHistory(line))];
}

/** The line of a snapshot that holds the history: the first one. */
interface KeptHistory {
  readonly installationId: string;
  /** Null before the first reading. */
  readonly days: EncodedHistory | null;
  readonly progress: EncodedProgress | null;
}

/** The progress as a line of a snapshot has it: JSON has no list, and `givenUp` is the stored name of the evicted events. */
type EncodedProgress = Omit<MeasurementProgress, 'events' | 'evicted'> & {
  readonly events: Iterable<MeasurementEvent>;
  readonly givenUp: MeasurementProgress['evicted'];
};

function encodeProgress({ evicted, ...progress }: MeasurementProgress): EncodedProgress {
  return { ...progress, givenUp: evicted };
}

function decodeProgress({ givenUp, events, ...progress }: EncodedProgress): MeasurementProgress {
  return { ...progress, events: List(events), evicted: givenUp };
}

const historyMark = '{"history":';

function* encoded(states: ReturnType<InstallationActor['state']>[], kept: KeptHistory): Iterable<string> {
  yield stringify({ history: kept });
  for (const state of states) if (state !== null) yield encodeInstallationState(state);
}

function isHistory(line: string): boolean {
  return line.startsWith(historyMark);
}

function parseHistoryLine(line: string): KeptHistory | null {
  return isHistory(line) ? (parse(line) as { history: KeptHistory }).history : null;
}
