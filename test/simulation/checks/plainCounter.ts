import { group } from 'd3-array';
import type { StoredStreamMessage } from '../nats/storedStream.ts';

/** A reading as its message has it, with its place in the stream. */
interface PlainReading {
  readonly position: number;
  readonly telemetryId: string;
  readonly installationId: string;
  readonly bootId: string;
  readonly sequence: number;
  readonly observedAtMs: number;
  readonly receivedAtMs: number;
  readonly counterEpoch: string;
  readonly counter: bigint;
  readonly provenance: string;
  readonly softwareVersion: string | null;
  readonly coreStatus: string;
  readonly rpmMilli: number;
  readonly speedMmPerSecond: number;
  readonly distanceMm: number;
}

export interface PlainRejection {
  readonly position: number;
  readonly reason: string;
}

/** What a stream of readings means, straight from MESSAGES.md and CONTRACT.md, slowly and without anything of the product. */
export interface PlainCounter {
  readonly accepted: readonly PlainReading[];
  readonly rejected: readonly PlainRejection[];
  readonly rounds: readonly PlainRound[];
  readonly buckets: readonly PlainBucket[];
}

interface PlainRound {
  readonly installationId: string;
  readonly startMs: number;
  readonly workUnits: bigint;
  /** Of the reading that showed that it had ended. */
  readonly position: number;
}

interface PlainBucket extends PlainRound {
  readonly observedRoundCount: number;
  readonly readingCount: number;
  readonly maxDistanceMm: number;
}

const messageBytesMax = 16 * 1024;
const roundMs = 600_000;
const bucketMs = 1_800_000;
const coveringMs = 120_000;

export function plainCounter(messages: Iterable<StoredStreamMessage>, genesisMs: number): PlainCounter {
  const accepted: PlainReading[] = [];
  const rejected: PlainRejection[] = [];
  const byInstallation = new Map<string, PlainReading[]>();
  for (const message of messages) {
    const reading = parseReading(message);
    const reason = reading === null ? 'malformed' : findReason(message, reading, byInstallation);
    if (reading === null || reason !== null) {
      rejected.push({ position: message.sequence, reason: reason as string });
      continue;
    }
    accepted.push(reading);
    const own = byInstallation.get(reading.installationId);
    if (own === undefined) byInstallation.set(reading.installationId, [reading]);
    else own.push(reading);
  }
  const rounds = [...byInstallation.values()].flatMap((own) => findRounds(own, genesisMs));
  const buckets = [...byInstallation.values()].flatMap((own) => findBuckets(own, rounds));
  return { accepted, rejected, rounds, buckets };
}

function parseReading({ data, sequence: position }: StoredStreamMessage): PlainReading | null {
  if (data.length > messageBytesMax) return null;
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(data.toString('utf8'));
  } catch {
    return null;
  }
  // What the workload publishes is whole but for these.
  if (typeof body !== 'object' || body === null || typeof body.telemetryId !== 'string') return null;
  if (typeof body.sequence !== 'number' || body.sequence < 0) return null;
  return {
    position,
    telemetryId: body.telemetryId,
    installationId: String(body.installationId),
    bootId: String(body.bootId),
    sequence: body.sequence,
    observedAtMs: Date.parse(String(body.observedAt)),
    receivedAtMs: Date.parse(String(body.receivedAt)),
    counterEpoch: String(body.counterEpoch),
    counter: BigInt(String(body.cumulativeWorkUnits)),
    provenance: String(body.provenance),
    softwareVersion: body.softwareVersion === null ? null : String(body.softwareVersion),
    coreStatus: String(body.coreStatus),
    rpmMilli: Number(body.rpmMilli),
    speedMmPerSecond: Number(body.speedMmPerSecond),
    distanceMm: Number(body.distanceMm),
  };
}

function findReason(
  { subject }: StoredStreamMessage,
  reading: PlainReading,
  byInstallation: ReadonlyMap<string, readonly PlainReading[]>,
): string | null {
  if (subject !== `miner.counter.${reading.installationId.replaceAll('.', '~')}`) return 'wrong_installation';
  if (reading.observedAtMs - reading.receivedAtMs > 300_000) return 'future_observation';
  const own = byInstallation.get(reading.installationId) ?? [];
  const sameBoot = own.findLast(({ bootId }) => bootId === reading.bootId);
  if (
    sameBoot !== undefined &&
    reading.sequence <= sameBoot.sequence &&
    isRemembered(own, sameBoot, 'bootId')
  )
    return 'duplicate';
  const latest = own.at(-1);
  if (latest !== undefined && reading.observedAtMs < latest.observedAtMs) return 'out_of_order';
  const sameEpoch = own.findLast(({ counterEpoch }) => counterEpoch === reading.counterEpoch);
  if (
    sameEpoch !== undefined &&
    reading.counter < sameEpoch.counter &&
    isRemembered(own, sameEpoch, 'counterEpoch')
  )
    return 'counter_regression';
  return null;
}

/** The newest boot or epoch is remembered, and 63 earlier ones. */
function isRemembered(
  own: readonly PlainReading[],
  one: PlainReading,
  of: 'bootId' | 'counterEpoch',
): boolean {
  const since = new Set<string>();
  for (const reading of own.slice(own.indexOf(one) + 1)) since.add(reading[of]);
  since.delete(one[of]);
  return since.size <= 63;
}

function findRounds(own: readonly PlainReading[], genesisMs: number): PlainRound[] {
  const spans: { fromMs: number; toMs: number }[] = [];
  const works = new Map<number, bigint>();
  for (const [index, reading] of own.entries()) {
    const before = own[index - 1];
    if (before === undefined) continue;
    const gapMs = reading.observedAtMs - before.observedAtMs;
    if (before.counterEpoch !== reading.counterEpoch || gapMs > coveringMs) continue;
    const last = spans.at(-1);
    if (last !== undefined && last.toMs >= before.observedAtMs) last.toMs = reading.observedAtMs;
    else spans.push({ fromMs: before.observedAtMs, toMs: reading.observedAtMs });
    const startMs = genesisMs + Math.floor((reading.observedAtMs - genesisMs) / roundMs) * roundMs;
    works.set(startMs, (works.get(startMs) ?? 0n) + reading.counter - before.counter);
  }
  const rounds: PlainRound[] = [];
  for (const { fromMs, toMs } of spans) {
    const firstMs = genesisMs + Math.max(0, Math.ceil((fromMs - genesisMs) / roundMs)) * roundMs;
    for (let startMs = firstMs; startMs + roundMs <= toMs; startMs += roundMs) {
      const closing = own.find(({ observedAtMs }) => observedAtMs >= startMs + roundMs) as PlainReading;
      const { installationId, position } = closing;
      rounds.push({ installationId, startMs, workUnits: works.get(startMs) ?? 0n, position });
    }
  }
  return rounds;
}

function findBuckets(own: readonly PlainReading[], rounds: readonly PlainRound[]): PlainBucket[] {
  const startOf = (atMs: number) => Math.floor(atMs / bucketMs) * bucketMs;
  const buckets: PlainBucket[] = [];
  for (const [startMs, readings] of group(own, ({ observedAtMs }) => startOf(observedAtMs))) {
    const closing = own.find(({ observedAtMs }) => observedAtMs >= startMs + bucketMs);
    if (closing === undefined) continue;
    const { installationId, position } = closing;
    const inside = rounds.filter(
      (round) => round.installationId === installationId && startOf(round.startMs) === startMs,
    );
    buckets.push({
      installationId,
      startMs,
      position,
      observedRoundCount: inside.length,
      workUnits: inside.reduce((sum, { workUnits }) => sum + workUnits, 0n),
      readingCount: readings.length,
      maxDistanceMm: Math.max(...readings.map(({ distanceMm }) => distanceMm)),
    });
  }
  return buckets;
}
