import { cacheView } from '../caching/cacheView.ts';
import type { Received } from '../messages/decodeMessage.ts';
import { type AcceptanceState, acceptReading, findRejection, shareStrings } from './acceptance.ts';
import type { CounterReading } from './counterReading.ts';
import { type ClosedRows, createRoundState, foldRound, nothingClosed, type RoundState } from './roundFold.ts';
import { findFreshness, type TelemetryView } from './telemetryView.ts';

/** Folded state of one installation's readings. Immutable. */
export interface InstallationState {
  readonly acceptance: AcceptanceState;
  readonly roundState: RoundState;
  /** When the stream stored the newest accepted reading (epoch milliseconds). */
  readonly heardAtMs: number;
}

export interface ReadingOutput {
  readonly reading: CounterReading;
  readonly closed: ClosedRows;
}

export type InstallationActor = ReturnType<typeof createInstallationActor>;

/** The actor of one installation: acceptance, rounds and buckets, and the freshness of its newest measurement. */
export function createInstallationActor(
  installationId: string,
  genesisMs: number,
  restored: InstallationState | null,
) {
  let state = restored;
  /** The same view until a reading is accepted or the clock passes the staleness limit. */
  const telemetry = cacheView({
    inputs: (nowMs: number) => {
      const reading = state?.acceptance.latest ?? null;
      return [reading, findFreshness(reading === null ? null : nowMs - reading.receivedAtMs)];
    },
    compute: (reading, freshness): TelemetryView => {
      const revision = reading === null ? null : `${reading.position}.${reading.telemetryId}`;
      return { installationId, freshness, revision, reading };
    },
  });

  /** Folds one reading, stored at `heardAtMs`. The caller must not use the object afterwards. */
  function receive(reading: CounterReading, heardAtMs: number): Received<ReadingOutput> {
    const rejection = findRejection(state?.acceptance ?? null, reading);
    if (rejection !== null) return { rejection };
    const acceptance = acceptReading(state?.acceptance ?? null, reading);
    shareStrings(reading, state?.acceptance.latest ?? null);
    if (state === null) {
      state = { acceptance, roundState: createRoundState(reading), heardAtMs };
      return { output: { reading, closed: nothingClosed } };
    }
    const previous = state.acceptance.latest;
    const folded = foldRound(state.roundState, { reading, previous, genesisMs });
    state = { acceptance, roundState: folded.state, heardAtMs };
    return { output: { reading, closed: folded.closed } };
  }

  return { receive, telemetry, state: () => state };
}
