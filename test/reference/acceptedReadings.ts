import {
  dayMs,
  ignoreRejected,
  isDecimal,
  isFuture,
  isId,
  isInteger,
  isOneOf,
  isText,
  isTime,
  isUuid,
  type Json,
  parsePayload,
  provenances,
  readSubject,
  roundMs,
  type StoredMessage,
} from './messages.ts';
import { createReferencePlaces, type PlacesSettings, type ReferencePlaces } from './referencePlaces.ts';

/** Measured values, which pass through unchanged. */
export const measured = ['rpmMilli', 'speedMmPerSecond', 'distanceMm'] as const;

/** MESSAGES.md, Counter reading and Acceptance of readings; CONTRACT.md, Time, rounds and days. */

export interface Reading extends Readonly<Record<(typeof measured)[number], number>> {
  readonly position: number;
  readonly telemetryId: string;
  readonly installationId: string;
  readonly bootId: string;
  readonly sequence: number;
  readonly observedAtMs: number;
  readonly receivedAtMs: number;
  readonly counterEpoch: string;
  readonly cumulativeWorkUnits: bigint;
  readonly provenance: 'hardware' | 'simulated' | 'replay' | 'derived';
  readonly softwareVersion: string | null;
  readonly coreStatus: 'IDLE' | 'ACTIVE' | 'COUNTER_FAULT';
}

const remembered = 64;
const defaults = {
  max: 50_000,
  publicId: '',
  genesisMs: Number.NEGATIVE_INFINITY,
  maximumSpeedMmPerSecond: Number.POSITIVE_INFINITY,
};
type Settings = typeof defaults;

/** Accepted readings of all installations, in the order of the stream. */
export function acceptReadings(
  messages: readonly StoredMessage[],
  onRejected = ignoreRejected,
  given: Partial<Settings> = {},
): Reading[] {
  const settings = { ...defaults, ...given };
  const accepted: Reading[] = [];
  const byInstallation = new Map<string, Reading[]>();
  const places = createReferencePlaces(settings);
  for (const message of messages) {
    const payload = parsePayload(message, 16_384);
    const reading = payload !== null && isReading(payload) ? readReading(payload, message.seq) : null;
    const reason =
      reading === null
        ? 'malformed'
        : explainRejection(message, reading, byInstallation, { ...settings, places });
    if (reading === null || reason !== null) {
      onRejected(message, reason as string);
      continue;
    }
    const earlier = byInstallation.get(reading.installationId) ?? [];
    earlier.push(reading);
    byInstallation.set(reading.installationId, earlier);
    accepted.push(reading);
    for (const id of places.accept(reading.installationId, message.storedAtMs)) byInstallation.delete(id);
  }
  return accepted;
}

/** Reason of a rejection by rules 2 to 8; null for an accepted reading. */
function explainRejection(
  message: StoredMessage,
  reading: Reading,
  byInstallation: ReadonlyMap<string, readonly Reading[]>,
  {
    places,
    genesisMs,
    maximumSpeedMmPerSecond,
  }: Omit<Settings, keyof PlacesSettings> & { readonly places: ReferencePlaces },
): string | null {
  const [subjectId] = readSubject(message.subject, 'miner.counter') ?? [];
  if (reading.installationId !== subjectId) return 'wrong_installation';
  const { installationId, observedAtMs, receivedAtMs } = reading;
  if (observedAtMs - receivedAtMs > 300_000 || isFuture(message, [observedAtMs, receivedAtMs]))
    return 'future_observation';
  if (observedAtMs < genesisMs - 366 * dayMs) return 'past_observation';
  const sinceNoonSeconds = (observedAtMs - findDay(observedAtMs)) / 1_000;
  if (
    reading.speedMmPerSecond > maximumSpeedMmPerSecond ||
    reading.distanceMm > maximumSpeedMmPerSecond * (sinceNoonSeconds + 120)
  )
    return 'implausible';
  if (!places.gives(installationId, message.storedAtMs, observedAtMs)) return 'too_many_installations';
  return explainRefusal(reading, byInstallation.get(installationId) ?? []);
}

/** Rules 6 to 8: reason of a rejection because of earlier accepted readings. */
function explainRefusal(reading: Reading, earlier: readonly Reading[]): string | null {
  const sameBoot = findLastOfRemembered(earlier, (one) => one.bootId, reading.bootId);
  if (sameBoot !== null && reading.sequence <= sameBoot.sequence) return 'duplicate';
  const newest = earlier.at(-1);
  if (newest !== undefined && reading.observedAtMs < newest.observedAtMs) return 'out_of_order';
  const sameEpoch = findLastOfRemembered(earlier, (one) => one.counterEpoch, reading.counterEpoch);
  if (sameEpoch !== null && reading.cumulativeWorkUnits < sameEpoch.cumulativeWorkUnits)
    return 'counter_regression';
  return null;
}

/** The last accepted reading of a boot or an epoch, if it is the newest or among the 63 before it. */
function findLastOfRemembered(
  earlier: readonly Reading[],
  read: (reading: Reading) => string,
  wanted: string,
): Reading | null {
  const seen = new Set<string>();
  for (let index = earlier.length - 1; index >= 0; index--) {
    const reading = earlier[index] as Reading;
    seen.add(read(reading));
    if (seen.size > remembered) return null;
    if (read(reading) === wanted) return reading;
  }
  return null;
}

function isReading(body: Json): boolean {
  return (
    [body.telemetryId, body.bootId, body.counterEpoch].every(isUuid) &&
    isId(body.installationId) &&
    isInteger(body.sequence) &&
    isTime(body.observedAt) &&
    isTime(body.receivedAt) &&
    isDecimal(body.cumulativeWorkUnits) &&
    isOneOf(body.provenance, provenances) &&
    (body.softwareVersion === null || isText(body.softwareVersion, 256, 0)) &&
    isOneOf(body.coreStatus, ['IDLE', 'ACTIVE', 'COUNTER_FAULT']) &&
    measured.every((name) => isInteger(body[name]))
  );
}

/** UUIDs are compared in lower case. */
function readReading(body: Json, position: number): Reading {
  // Once `isReading` holds, the members are of the wire's types.
  const { observedAt, receivedAt, ...rest } = body as unknown as Omit<Reading, 'cumulativeWorkUnits'> &
    Record<'observedAt' | 'receivedAt' | 'cumulativeWorkUnits', string>;
  return {
    ...rest,
    position,
    telemetryId: rest.telemetryId.toLowerCase(),
    bootId: rest.bootId.toLowerCase(),
    counterEpoch: rest.counterEpoch.toLowerCase(),
    observedAtMs: Date.parse(observedAt),
    receivedAtMs: Date.parse(receivedAt),
    cumulativeWorkUnits: BigInt(rest.cumulativeWorkUnits),
  };
}

/** Whether the time between two consecutive accepted readings is covered. */
export function isCovering(before: Reading, after: Reading): boolean {
  return before.counterEpoch === after.counterEpoch && after.observedAtMs - before.observedAtMs <= 120_000;
}

/** Work of each observed round of one installation, by the start of the round. */
export function observeRounds(readings: readonly Reading[], genesisMs: number): Map<number, bigint> {
  const findStart = (timeMs: number) => timeMs - ((((timeMs - genesisMs) % roundMs) + roundMs) % roundMs);
  const covered: { from: number; to: number }[] = [];
  const work = new Map<number, bigint>();
  for (let index = 1; index < readings.length; index++) {
    const [before, after] = [readings[index - 1] as Reading, readings[index] as Reading];
    if (!isCovering(before, after)) continue;
    const [from, to] = [before.observedAtMs, after.observedAtMs];
    const last = covered.at(-1);
    // Two readings of one instant leave no gap between them, even in different epochs.
    if (last !== undefined && last.to === from) last.to = to;
    else covered.push({ from, to });
    work.set(
      findStart(to),
      (work.get(findStart(to)) ?? 0n) + after.cumulativeWorkUnits - before.cumulativeWorkUnits,
    );
  }
  const observed = new Map<number, bigint>();
  for (const { from, to } of covered) {
    for (let start = findStart(from + roundMs - 1); start + roundMs <= to; start += roundMs)
      if (start >= genesisMs) observed.set(start, work.get(start) ?? 0n);
  }
  return observed;
}

const bucketMs = 1_800_000;

/** Each half hour that a reading has ended, with that reading. */
export function observeBuckets(readings: readonly Reading[], genesisMs: number) {
  const startOf = (atMs: number) => Math.floor(atMs / bucketMs) * bucketMs;
  const observed = [...observeRounds(readings, genesisMs)];
  const starts = new Set(readings.map(({ observedAtMs }) => startOf(observedAtMs)));
  return [...starts].flatMap((startMs) => {
    const inside = readings.filter(({ observedAtMs }) => startOf(observedAtMs) === startMs);
    const closing = readings.find(({ observedAtMs }) => observedAtMs >= startMs + bucketMs);
    if (closing === undefined) return [];
    const works = observed
      .filter(([roundStartMs]) => startOf(roundStartMs) === startMs)
      .map(([, work]) => work);
    const [rpm, speed] = (['rpmMilli', 'speedMmPerSecond'] as const).map((name) => {
      const value = Math.max(...inside.map((reading) => reading[name]));
      return { value, atMs: inside.find((reading) => reading[name] === value)?.observedAtMs };
    }) as [Peak, Peak];
    const bucket = {
      startMs,
      workUnits: works.reduce((sum, one) => sum + one, 0n),
      observedRoundCount: works.length,
      maxDistanceMm: Math.max(...inside.map(({ distanceMm }) => distanceMm)),
      readingCount: inside.length,
      peakRpmMilli: rpm.value,
      peakRpmAtMs: rpm.atMs,
      peakSpeedMmPerSecond: speed.value,
      peakSpeedAtMs: speed.atMs,
    };
    return [{ bucket, closing }];
  });
}

interface Peak {
  readonly value: number;
  readonly atMs: number | undefined;
}

/** The noon at which the universal day of a time began. */
export function findDay(timeMs: number): number {
  return Math.floor((timeMs - dayMs / 2) / dayMs) * dayMs + dayMs / 2;
}

/** The largest distance of each universal day with a reading, by its noon. */
export function measureDays(readings: readonly Reading[]): Map<number, number> {
  const days = new Map<number, number>();
  for (const { observedAtMs, distanceMm } of readings) {
    const day = findDay(observedAtMs);
    days.set(day, Math.max(days.get(day) ?? 0, distanceMm));
  }
  return days;
}
