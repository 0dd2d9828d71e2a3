import type { RoundRow } from '../storedRows.ts';
import type { AcceptedReading, MeasuredReading } from './acceptedReading.ts';

/** Accepted readings of one installation as columns, since threads exchange numbers faster than objects. */
export interface PublicReadings {
  readonly installationId: string;
  readonly telemetryIds: readonly string[];
  /** When the stream stored them (epoch nanoseconds). */
  readonly storedAtNanos: BigInt64Array;
  /** The other values, of one reading after another. */
  readonly values: Float64Array;
  /** The rounds that they closed, by the number of the reading, but for one that was open before the range. */
  readonly closed: ReadonlyMap<number, RoundRow>;
}

const valuesOfReading = 6;

/** Collects what the statistics of the public installation need of the readings of a range. */
export function collectPublicReadings(installationId: string) {
  const telemetryIds: string[] = [];
  const storedAtNanos: bigint[] = [];
  const values: number[] = [];
  const closed = new Map<number, RoundRow>();
  return {
    add: (reading: AcceptedReading, round: RoundRow | null, storedAt: bigint): void => {
      const { position, observedAtMs, receivedAtMs, rpmMilli, speedMmPerSecond, distanceMm } = reading;
      if (round !== null) closed.set(telemetryIds.length, round);
      telemetryIds.push(reading.telemetryId);
      storedAtNanos.push(storedAt);
      values.push(position, observedAtMs, receivedAtMs, rpmMilli, speedMmPerSecond, distanceMm);
    },
    complete: (): PublicReadings => ({
      installationId,
      telemetryIds,
      storedAtNanos: BigInt64Array.from(storedAtNanos),
      values: Float64Array.from(values),
      closed,
    }),
  };
}

export function readPublicReading(
  { installationId, telemetryIds, values }: PublicReadings,
  index: number,
): MeasuredReading {
  const at = index * valuesOfReading;
  return {
    installationId,
    telemetryId: telemetryIds[index] as string,
    position: values[at] as number,
    observedAtMs: values[at + 1] as number,
    receivedAtMs: values[at + 2] as number,
    rpmMilli: values[at + 3] as number,
    speedMmPerSecond: values[at + 4] as number,
    distanceMm: values[at + 5] as number,
  };
}
