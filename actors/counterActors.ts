import { decodeCounter } from '../streams/decodeCounter.ts';
import type { StreamMessage } from '../streams/messageSource.ts';
import type { ActivityState } from './activityFold.ts';
import { createInstallationActor, type InstallationActor, type ReadingOutcome } from './installationActor.ts';
import { decodeInstallationState, encodeInstallationState } from './installationSnapshot.ts';
import type { TelemetryView } from './views.ts';

/** Version of the folds of `MINER_COUNTER`: a snapshot of another version is not restored, the stream is folded anew. */
export const counterFoldVersion = 2;

/** The actors of `MINER_COUNTER`, one an installation, found from the stream. */
export interface CounterActors {
  receive(message: StreamMessage): ReadingOutcome;
  /** Offline for an installation that has published nothing. */
  telemetry(installationId: string, nowMs: number): TelemetryView;
  /** Observed and open rounds, as projections need them; null for an installation that has published nothing. */
  activity(installationId: string): ActivityState | null;
  readonly installationCount: number;
  /**
   * The state as it is at this call, one line of JSON an installation; the lines are made when they are asked for,
   * from immutable values, while folding goes on.
   */
  capture(): Iterable<string>;
  /** Replaces all state at once by captured lines. */
  restore(lines: Iterable<string>): void;
}

export function createCounterActors({ genesisMs }: { genesisMs: number }): CounterActors {
  let actors = new Map<string, InstallationActor>();

  function actorOf(installationId: string): InstallationActor {
    const known = actors.get(installationId);
    if (known !== undefined) return known;
    const actor = createInstallationActor(installationId, genesisMs, null);
    actors.set(installationId, actor);
    return actor;
  }

  function receive(message: StreamMessage): ReadingOutcome {
    const decoded = decodeCounter(message.subject, message.data);
    if ('rejection' in decoded) return decoded;
    return actorOf(decoded.value.installationId).receive(decoded.value, message.seq);
  }

  function telemetry(installationId: string, nowMs: number): TelemetryView {
    const actor = actors.get(installationId);
    if (actor !== undefined) return actor.telemetry(nowMs);
    return { installationId, freshness: 'offline', revision: null, reading: null };
  }

  function capture(): Iterable<string> {
    const states = [...actors.values()].map((actor) => actor.state());
    return encoded(states);
  }

  function restore(lines: Iterable<string>) {
    const restored = new Map<string, InstallationActor>();
    for (const line of lines) {
      const state = decodeInstallationState(line);
      const { installationId } = state.acceptance.latest;
      restored.set(installationId, createInstallationActor(installationId, genesisMs, state));
    }
    actors = restored;
  }

  return {
    receive,
    telemetry,
    activity: (installationId) => actors.get(installationId)?.state()?.activity ?? null,
    get installationCount() {
      return actors.size;
    },
    capture,
    restore,
  };
}

function* encoded(states: ReturnType<InstallationActor['state']>[]): Iterable<string> {
  for (const state of states) if (state !== null) yield encodeInstallationState(state);
}
