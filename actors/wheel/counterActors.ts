import { copyText } from '../copyText.ts';
import { type FoldIdentity, identifyFold } from '../foldIdentity.ts';
import type { StateCapture, StateRestoration } from '../foldRecord.ts';
import { installationsMax } from '../installationsMax.ts';
import { reject } from '../messages/decodeMessage.ts';
import type { Received } from '../messages/outcome.ts';
import type { StoredAt, StreamMessage } from '../messages/streamMessage.ts';
import { nanosPerMillisecond } from '../schemas/durations.ts';
import type { CounterReading } from './counterReading.ts';
import { type CapturedCounters, createCounterRestoration, encodeCounters } from './counterSnapshot.ts';
import type { DayHistory } from './dayHistory.ts';
import { decodeCounter } from './decodeCounter.ts';
import {
  createInstallationActor,
  type InstallationActor,
  type InstallationState,
  type ReadingOutput,
} from './installationActor.ts';
import type { MeasurementProgress } from './measurementEvents.ts';
import { addPublicReading, type EvictedMeasurements, type PublicState } from './publicState.ts';
import type { TelemetryView } from './telemetryView.ts';

/** Version of the folds of `MINER_COUNTER`. A snapshot of another version is not restored; the stream is replayed. */
const counterFoldVersion = 8;

export interface CounterOutput extends ReadingOutput {
  /** Omitted if nothing was evicted. */
  readonly evicted?: EvictedMeasurements;
}

/** The actors of `MINER_COUNTER`, one per installation with readings. */
export interface CounterActors {
  readonly identity: FoldIdentity;
  receive(message: StreamMessage): Received<CounterOutput>;
  /** Folds a reading from ClickHouse whose message is no longer in the stream. */
  receiveStored(reading: CounterReading): Received<CounterOutput>;
  /** Whether readings were accepted, even if they are not shown yet. */
  hasReadings(installationId: string): boolean;
  /** Offline for an installation that has published nothing. */
  telemetry(installationId: string, nowMs: number): TelemetryView;
  /** Days of the public installation; null before its first reading. The same object until a reading changes it. */
  history(): DayHistory | null;
  /** Achievements of the public installation; null before its first reading. The same object until the next achievement. */
  achievements(): MeasurementProgress | null;
  /** Newest reading and rounds; null for an installation without readings. The same object until a reading is accepted. */
  installation(installationId: string): InstallationState | null;
  capture(): StateCapture;
  /**
   * Begins to restore a state, which replaces the current one once complete. The shown state stays until `reveal`, so that no view goes
   * back in time.
   */
  beginRestore(): StateRestoration;
  reveal(): void;
}

interface CounterActorsSettings {
  /** Start of round 1 (epoch milliseconds). */
  readonly genesisMs: number;
  readonly publicInstallationId: string;
}

export function createCounterActors(settings: CounterActorsSettings): CounterActors {
  const { genesisMs, publicInstallationId } = settings;
  let folded: Folded | null = null;
  /** Null before the first capture, and after a restoration. */
  let captured: CapturedCounters | null = null;
  let shown: Folded = { actors: new Map(), history: null, progress: null };

  /** Null if this would exceed the maximum of installations. */
  function findOrCreateActor({ actors }: Folded, installationId: string): InstallationActor | null {
    const known = actors.get(installationId);
    if (known !== undefined) return known;
    if (actors.size >= installationsMax) return null;
    const id = copyText(installationId);
    const actor = createInstallationActor(id, genesisMs, null);
    actors.set(id, actor);
    return actor;
  }

  function receive(message: StreamMessage): Received<CounterOutput> {
    const decoded = decodeCounter(message);
    if ('rejection' in decoded) return decoded;
    return take(decoded.value, message);
  }

  function take(reading: CounterReading, stored: StoredAt): Received<CounterOutput> {
    const { installationId } = reading;
    folded ??= shown;
    const actor = findOrCreateActor(folded, installationId);
    if (actor === null)
      return reject('too_many_installations', `${installationsMax} other installations have readings`);
    const outcome = actor.receive(reading);
    if (installationId === publicInstallationId && 'output' in outcome) {
      const { reading: accepted, closed } = outcome.output;
      const evicted = addPublicReading(folded, { reading: accepted, round: closed.round, stored });
      if (evicted !== null) return { output: { ...outcome.output, evicted } };
    }
    return outcome;
  }

  function telemetry(installationId: string, nowMs: number): TelemetryView {
    const actor = shown.actors.get(installationId);
    if (actor !== undefined) return actor.telemetry(nowMs);
    return { installationId, freshness: 'offline', revision: null, reading: null };
  }

  function capture(): StateCapture {
    const { actors, history, progress } = folded ?? shown;
    const installations = [...actors.values()]
      .map((actor) => actor.state())
      .filter((state) => state !== null);
    const before = captured;
    const after = { installations, history, progress };
    captured = after;
    return {
      all: () => encodeCounters(after),
      changes: before === null ? null : () => encodeCounters(after, before),
    };
  }

  function beginRestore(): StateRestoration {
    const restoration = createCounterRestoration();
    return {
      add: restoration.add,
      complete: () => {
        const { installations, history, progress } = restoration.complete();
        const actors = installations.map((state) => {
          const { installationId } = state.acceptance.latest;
          return [installationId, createInstallationActor(installationId, genesisMs, state)] as const;
        });
        const restored = { actors: new Map(actors), history, progress };
        return () => {
          // Before the first restoration, no shown state could go back.
          if (folded === null) shown = restored;
          folded = restored;
          captured = null;
        };
      },
    };
  }

  return {
    identity: identifyFold(counterFoldVersion, { genesisMs, publicInstallationId }),
    receive,
    // The stream's time of the message is no longer known; the gateway received it shortly before.
    receiveStored: (reading) =>
      take(reading, { timestampNanos: BigInt(reading.receivedAtMs) * nanosPerMillisecond }),
    hasReadings: (installationId) =>
      shown.actors.has(installationId) || (folded?.actors.has(installationId) ?? false),
    telemetry,
    history: () => shown.history,
    achievements: () => shown.progress,
    installation: (installationId) => shown.actors.get(installationId)?.state() ?? null,
    capture,
    beginRestore,
    reveal: () => {
      if (folded !== null) shown = folded;
    },
  };
}

interface Folded extends PublicState {
  readonly actors: Map<string, InstallationActor>;
}
