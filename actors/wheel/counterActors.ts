import type { MeasurementEvent } from '../events/eventSchemas.ts';
import type { FoldedMessage } from '../folds/foldedMessage.ts';
import { identifyFold } from '../folds/foldIdentity.ts';
import { listRecords, RecordRefused, type StateRestoration } from '../folds/foldRecord.ts';
import { createPlaces, installationsMax, type Places } from '../folds/places.ts';
import { type Received, reject } from '../messages/decodeMessage.ts';
import { readStoredAtMs, type StreamMessage } from '../messages/streamMessage.ts';
import { foldVersions } from '../versions.ts';
import { copyText } from './acceptance.ts';
import type { CounterReading } from './counterReading.ts';
import { counterKinds, createCounterRestoration } from './counterSnapshot.ts';
import { decodeCounter, findImpossible, type ReadingBounds } from './decodeCounter.ts';
import {
  createInstallationActor,
  type InstallationActor,
  type InstallationState,
  type ReadingOutput,
} from './installationActor.ts';
import { addPublicReading, nothingPublic, type PublicState } from './publicState.ts';
import { type BucketRow, closeBucket } from './roundFold.ts';
import type { TelemetryView } from './telemetryView.ts';

export interface CounterOutput extends ReadingOutput {
  /** Omitted if nothing was evicted. */
  readonly evicted?: readonly MeasurementEvent[];
  /** Last half hours of installations that gave their places up for the reading's installation. Omitted if none did. */
  readonly left?: readonly BucketRow[];
}

interface CounterSettings extends ReadingBounds {
  readonly publicInstallationId: string;
  /** Number of installations with places, not counting the public one. */
  readonly installationsMax?: number | undefined;
}

export type CounterActors = ReturnType<typeof createCounterActors>;

/** The actors of `MINER_COUNTER`, one per installation with readings. */
export function createCounterActors(settings: CounterSettings) {
  const { genesisMs, publicInstallationId, maximumSpeedMmPerSecond } = settings;
  const placesOptions = {
    max: settings.installationsMax ?? installationsMax,
    publicInstallationId,
    readHeardAtMs: (actor: InstallationActor) => actor.state()?.heardAtMs ?? 0,
  };
  let folded: Folded | null = null;
  let shown: Folded = { places: createPlaces(placesOptions), through: null, ...nothingPublic };

  function receive(message: StreamMessage): Received<CounterOutput> {
    const storedAtMs = readStoredAtMs(message);
    const decoded = decodeCounter(message, storedAtMs, settings);
    if ('rejection' in decoded) return decoded;
    folded ??= shown;
    const { places } = folded;
    const reading = decoded.value;
    const { installationId } = reading;
    const actor = places.entries.get(installationId);
    if (actor !== undefined) return take(folded, actor, reading, storedAtMs);
    const refusal = places.refuse(installationId, { storedAtMs, madeAtMs: reading.observedAtMs });
    if (refusal !== null) return reject('too_many_installations', refusal);
    return begin(folded, reading, storedAtMs, places.take);
  }

  /** Folds a stored reading whose message is no longer in the stream. One outside the bounds was accepted by an earlier version or setting. */
  function receiveStored(reading: CounterReading): Received<CounterOutput> {
    const impossible = findImpossible(reading, settings);
    if (impossible !== null) return impossible;
    // The stream's time of the message is no longer known; the gateway received it shortly before.
    const storedAtMs = reading.receivedAtMs;
    folded ??= shown;
    const { places } = folded;
    const actor = places.entries.get(reading.installationId);
    return actor === undefined
      ? begin(folded, reading, storedAtMs, places.takeAgain)
      : take(folded, actor, reading, storedAtMs);
  }

  /** Folds the first reading of an installation, which no earlier one can contradict. */
  function begin(
    state: Folded,
    reading: CounterReading,
    storedAtMs: number,
    takePlace: Places<InstallationActor>['take'],
  ): Received<CounterOutput> {
    const id = copyText(reading.installationId);
    const actor = createInstallationActor(id, genesisMs, null);
    const { position } = reading;
    const outcome = take(state, actor, reading, storedAtMs);
    const left = takePlace(id, actor, storedAtMs).flatMap((gone) => {
      const last = gone.state();
      return last === null
        ? []
        : [closeBucket(last.acceptance.latest.installationId, last.roundState, position)];
    });
    if (left.length === 0 || 'rejection' in outcome) return outcome;
    return { output: { ...outcome.output, left } };
  }

  function take(
    state: Folded,
    actor: InstallationActor,
    reading: CounterReading,
    storedAtMs: number,
  ): Received<CounterOutput> {
    const outcome = actor.receive(reading, storedAtMs);
    if (reading.installationId === publicInstallationId && 'output' in outcome) {
      const { reading: accepted, closed } = outcome.output;
      const evicted = addPublicReading(state, { reading: accepted, round: closed.round, storedAtMs });
      if (evicted !== null) return { output: { ...outcome.output, evicted } };
    }
    return outcome;
  }

  /** Offline for an installation that has published nothing. */
  function telemetry(installationId: string, nowMs: number): TelemetryView {
    const actor = shown.places.entries.get(installationId);
    if (actor !== undefined) return actor.telemetry(nowMs);
    return { installationId, freshness: 'offline', revision: null, reading: null };
  }

  const places = () => (folded ?? shown).places;

  /** The records of the state as of this call. */
  function capture() {
    const { places, through: _through, ...rest } = folded ?? shown;
    const installations = Array.from(places.entries.values(), (actor) => actor.state()).filter(
      (state) => state !== null,
    );
    return listRecords(counterKinds, { installations, places: places.state(), ...rest });
  }

  /**
   * Begins to restore a state, which replaces the current one once complete. The shown state stays until `reveal`, so that no view goes
   * back in time.
   */
  function beginRestore(): StateRestoration {
    const restoration = createCounterRestoration();
    return {
      add: restoration.add,
      complete: () => {
        const { installations, places: state, ...rest } = restoration.complete();
        const entries = installations.map((installation) => {
          const { installationId } = installation.acceptance.latest;
          return [installationId, createInstallationActor(installationId, genesisMs, installation)] as const;
        });
        const restored: Folded = {
          places: createPlaces(placesOptions, { entries, state }),
          through: null,
          ...rest,
        };
        if ((restored.history === null) === restored.places.entries.has(publicInstallationId))
          throw new RecordRefused(
            'the public installation has records without a history, or the other way round',
          );
        return () => {
          // Before the first restoration, no shown state could go back.
          if (folded === null) shown = restored;
          folded = restored;
        };
      },
    };
  }

  return {
    identity: identifyFold(foldVersions.MINER_COUNTER.version, {
      genesisMs,
      publicInstallationId,
      ...(maximumSpeedMmPerSecond !== undefined && { maximumSpeedMmPerSecond }),
    }),
    receive,
    receiveStored,
    /** Whether readings may have been accepted, even if they are not shown yet: of any installation once some were forgotten. */
    mayHaveReadings: (installationId: string) =>
      shown.places.entries.has(installationId) ||
      places().entries.has(installationId) ||
      places().forgottenThroughMs() !== null,
    telemetry,
    /** Days of the public installation; null before its first reading. The same object until a reading changes it. */
    history: () => shown.history,
    /** Achievements of the public installation; null before its first reading. The same object until the next achievement. */
    achievements: () => shown.progress,
    /** Newest reading and open round; null for an installation without readings. The same object until a reading is accepted. */
    installation: (installationId: string): InstallationState | null =>
      shown.places.entries.get(installationId)?.state() ?? null,
    places: () => places().counts(),
    /** Notes how far the messages are folded. */
    noteFolded: (through: FoldedMessage) => {
      (folded ?? shown).through = through;
    },
    /** The last message that the shown state includes; null before the first restoration. */
    shownThrough: () => shown.through,
    capture,
    beginRestore,
    reveal: () => {
      if (folded !== null) shown = folded;
    },
  };
}

interface Folded extends PublicState {
  readonly places: Places<InstallationActor>;
  /** The last folded message; null before the first restoration. */
  through: FoldedMessage | null;
}
