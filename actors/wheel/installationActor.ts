import { getInitialSnapshot, getNextSnapshot, type SnapshotFrom } from 'xstate';
import { freshnessMachine, stalenessSeconds } from '../../machines/freshnessMachine.ts';
import type { Rejection } from '../messages/decodeMessage.ts';
import type { TelemetryView } from '../views/views.ts';
import { type AcceptanceState, accepted, rejectionOf } from './acceptance.ts';
import { type AcceptedReading, acceptedReadingOf } from './acceptedReading.ts';
import { type ActivityState, type ClosedActivity, firstActivity, foldActivity } from './activityFold.ts';
import type { CounterReading } from './counterReading.ts';

/** Everything that is folded of one installation's readings. Immutable. */
export interface InstallationState {
  readonly acceptance: AcceptanceState;
  readonly activity: ActivityState;
}

export type ReadingOutcome =
  | { readonly rejection: Rejection }
  | { readonly reading: AcceptedReading; readonly closed: ClosedActivity };

/** The actor of one installation: acceptance, rounds and buckets, and the freshness of its newest measurement. */
export interface InstallationActor {
  /** Folds one reading; `position` is its sequence in `MINER_COUNTER`. */
  receive(reading: CounterReading, position: number): ReadingOutcome;
  /** The same view until a reading is accepted or the clock passes the staleness limit. */
  telemetry(nowMs: number): TelemetryView;
  /** Null before the first accepted reading. */
  state(): InstallationState | null;
}

const nothingClosed: ClosedActivity = { round: null, bucket: null };

export function createInstallationActor(
  installationId: string,
  genesisMs: number,
  restored: InstallationState | null,
): InstallationActor {
  let state = restored;
  let freshness: SnapshotFrom<typeof freshnessMachine> = getInitialSnapshot(freshnessMachine);
  let view: TelemetryView | null = null;

  function receive(reading: CounterReading, position: number): ReadingOutcome {
    const rejection = rejectionOf(state?.acceptance ?? null, reading);
    if (rejection !== null) return { rejection };
    const acceptedReading = acceptedReadingOf(reading, position, state?.acceptance.latest ?? null);
    const acceptance = accepted(state?.acceptance ?? null, acceptedReading);
    if (state === null) {
      state = { acceptance, activity: firstActivity(acceptedReading) };
      return { reading: acceptedReading, closed: nothingClosed };
    }
    const folded = foldActivity(state.activity, state.acceptance.latest, acceptedReading, genesisMs);
    state = { acceptance, activity: folded.state };
    return { reading: acceptedReading, closed: folded.closed };
  }

  function telemetry(nowMs: number): TelemetryView {
    const reading = state?.acceptance.latest ?? null;
    if (view !== null && view.reading === reading && isStill(view, nowMs)) return view;
    if (reading !== null) {
      const receiptAgeMs = nowMs - reading.receivedAtMs;
      freshness = getNextSnapshot(freshnessMachine, freshness, { type: 'observed', receiptAgeMs });
    }
    const revision = reading === null ? null : `${reading.position}.${reading.telemetryId}`;
    view = { installationId, freshness: freshness.value, revision, reading };
    return view;
  }

  return { receive, telemetry, state: () => state };
}

/** Spares the machine while its answer cannot have changed. */
function isStill(view: TelemetryView, nowMs: number): boolean {
  if (view.reading === null) return true;
  const isOld = nowMs - view.reading.receivedAtMs > stalenessSeconds * 1000;
  return isOld === (view.freshness === 'stale');
}
