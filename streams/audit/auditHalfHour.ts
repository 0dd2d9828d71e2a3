import { toMilliseconds } from '../../actors/schemas/durations.ts';
import { uint256Max } from '../../actors/schemas/wireScalars.ts';
import { type DayHistory, findDayStart } from '../../actors/wheel/dayHistory.ts';
import { decodeCounter } from '../../actors/wheel/decodeCounter.ts';
import { bucketMs, roundMs } from '../../actors/wheel/roundFold.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import type { RecentReadings } from '../../storage/reading/recentReadings.ts';
import {
  findFirstReading,
  findReadingBefore,
  readHalfHour,
  type StoredHalfHour,
} from '../../storage/reading/storedHalfHour.ts';
import type { OldestReadingMs } from '../../storage/rows/readingsTtl.ts';
import type { ReadRuns } from '../../storage/runs/visibleRuns.ts';
import { parseNanos } from '../jetstream/proofs/streamPosition.ts';
import type { JetStream } from '../nats/natsLink.ts';
import { type Audit, differencesMax } from './audit.ts';
import { type FoldedHalfHour, foldHalfHour, type HalfHour } from './halfHourFold.ts';

/** How far before the half hour the fold begins, and how many messages it reads at most. */
const firstLook = { warmUpMs: roundMs, messagesMax: 8_192 } as const;
/** A difference is confirmed with a longer past, since a message may repeat one from an earlier boot or epoch. */
const secondLook = { warmUpMs: 4 * 3_600_000, messagesMax: 65_536 } as const;

export interface CounterMemory {
  readonly recent: Pick<RecentReadings, 'coversAbove' | 'page'>;
  /** Null before the first reading. */
  readonly history: DayHistory | null;
}

export interface HalfHourAuditOptions extends JetStream {
  readonly database: Database;
  readonly readRuns: ReadRuns;
  readonly oldestReadingMs: OldestReadingMs;
  readonly genesisMs: number;
  readonly publicInstallationId: string;
  /** Null while memory does not hold everything that is stored. */
  readonly memory: () => CounterMemory | null;
}

/** A half hour, chosen by a message within it. */
export interface HalfHourSample extends HalfHour {
  readonly sequence: number;
}

/** Finds the half hour of a message; null if the message cannot be read, or if the TTL may have removed its rows. */
export async function findHalfHour(
  { jsm, oldestReadingMs }: HalfHourAuditOptions,
  sequence: number,
): Promise<HalfHourSample | null> {
  const message = await jsm.streams.getMessage('MINER_COUNTER', { seq: sequence });
  if (message === null) return null;
  const decoded = decodeCounter(message, toMilliseconds(parseNanos(message.timestamp)));
  if ('rejection' in decoded) return null;
  const { installationId, observedAtMs, receivedAtMs } = decoded.value;
  const startMs = Math.floor(observedAtMs / bucketMs) * bucketMs;
  const oldestMs = oldestReadingMs() ?? Number.NEGATIVE_INFINITY;
  // The TTL removes rows by whole days.
  if (Math.min(startMs, receivedAtMs) < oldestMs + 24 * 3_600_000) return null;
  return { installationId, startMs, sequence };
}

/**
 * Folds one half hour again from its messages, and compares each reading, round and sum with ClickHouse and memory.
 *
 * @param storedThrough sequence through which everything is stored.
 */
export async function auditHalfHour(
  options: HalfHourAuditOptions,
  sample: HalfHourSample,
  storedThrough: number,
): Promise<Audit<HalfHourSample>> {
  const about = `half hour ${new Date(sample.startMs).toISOString()} of ${sample.installationId}`;
  // A process that starts chooses its history later, and until then no row counts.
  if ((await options.readRuns()).length === 0) return { outcome: 'skipped', about };
  let differences: string[] = [];
  let repairFrom = sample.sequence;
  for (const look of [firstLook, secondLook]) {
    const start = await findStart(options, sample, look.warmUpMs);
    const folded =
      start === null
        ? null
        : await foldHalfHour({ ...options, ...start, halfHour: sample, messagesMax: look.messagesMax });
    if (folded === null || folded.bucket.position > storedThrough) return { outcome: 'skipped', about };
    differences = await compare(options, sample, folded);
    if (differences.length === 0) return { outcome: 'agrees', about };
    repairFrom = Math.min(repairFrom, ...folded.readings.map(({ position }) => position));
  }
  return {
    outcome: 'drift',
    about,
    key: `${sample.installationId} ${sample.startMs}`,
    sample,
    differences: differences.slice(0, differencesMax),
    repair: `npm run miner -- replay --from-sequence ${repairFrom}`,
  };
}

/**
 * Sequence of a reading some time before the half hour, or the beginning of the installation. Null if nothing of the installation is stored:
 * it may never have had a place.
 */
async function findStart(
  { jsm, database, readRuns, publicInstallationId }: HalfHourAuditOptions,
  { installationId, startMs, sequence }: HalfHourSample,
  warmUpMs: number,
): Promise<{ fromSequence: number; isBeginning: boolean } | null> {
  const observedBeforeMs = startMs - warmUpMs;
  const found = await findReadingBefore(database, await readRuns(), {
    installationId,
    sequence,
    observedBeforeMs,
  });
  const { state } = await jsm.streams.info('MINER_COUNTER');
  // Before its first stored reading, another installation may have had no place. The public one always has.
  const first =
    installationId === publicInstallationId
      ? 1
      : await findFirstReading(database, await readRuns(), installationId);
  if (first === null) return null;
  const fromSequence = Math.max(found ?? first, state.first_seq);
  return { fromSequence, isBeginning: fromSequence === first };
}

async function compare(
  { database, readRuns, memory, publicInstallationId }: HalfHourAuditOptions,
  { installationId, startMs }: HalfHour,
  folded: FoldedHalfHour,
): Promise<string[]> {
  const stored = await readHalfHour(database, await readRuns(), {
    installationId,
    startMs,
    fromPosition: folded.readings[0]?.position ?? folded.bucket.position,
    throughPosition: folded.bucket.position,
  });
  const inMemory = memory();
  return [
    ...compareRows('ClickHouse', toStored(folded), stored),
    ...(inMemory === null
      ? []
      : compareMemory(
          inMemory,
          { installationId, isPublic: installationId === publicInstallationId },
          folded,
        )),
  ];
}

function toStored({ readings, rounds, bucket }: FoldedHalfHour): StoredHalfHour {
  const storable = <Row extends { readonly workUnits: bigint }>(row: Row) => ({
    ...row,
    workUnits: row.workUnits > uint256Max ? null : row.workUnits,
  });
  return { readings, rounds: rounds.map(storable), bucket: storable(bucket) };
}

function compareRows(where: string, expected: StoredHalfHour, found: StoredHalfHour): string[] {
  return [
    ...compareLists(`readings in ${where}`, [expected.readings, found.readings], ({ position }) => position),
    ...compareLists(`rounds in ${where}`, [expected.rounds, found.rounds], ({ roundId }) => roundId),
    ...compareLists(`sums in ${where}`, [listBucket(expected), listBucket(found)], ({ startMs }) => startMs),
  ];
}

function listBucket({ bucket }: StoredHalfHour) {
  return bucket === null ? [] : [bucket];
}

function compareMemory(
  { recent, history }: CounterMemory,
  { installationId, isPublic }: { readonly installationId: string; readonly isPublic: boolean },
  { readings, rounds }: FoldedHalfHour,
): string[] {
  const above = recent.coversAbove().position;
  const retained = readings.filter(({ position }) => position > above);
  const [first] = retained;
  const last = retained.at(-1);
  const inMemory =
    first === undefined || last === undefined
      ? []
      : recent
          .page(installationId, first.position - 1, retained.length + 1)
          .filter(({ position }) => position <= last.position);
  const differences = compareLists('readings in memory', [retained, inMemory], ({ position }) => position);
  const days = isPublic ? history : null;
  if (days === null) return differences;
  for (const { startMs, roundId, workUnits } of rounds) {
    const dayStartMs = findDayStart(startMs);
    const day = [...days.past, days.open].find((one) => one.startMs === dayStartMs);
    const work = day?.rounds?.get((startMs - dayStartMs) / roundMs);
    // Memory keeps only the sums of an old day.
    if (day?.rounds != null && work !== workUnits)
      differences.push(
        `statistics in memory: round ${roundId} has ${work ?? 'no'} work units, ${workUnits} expected`,
      );
  }
  return differences;
}

function compareLists<Row extends object>(
  what: string,
  [expected, found]: readonly [expected: readonly Row[], found: readonly Row[]],
  readKey: (row: Row) => number,
): string[] {
  const foundByKey = new Map(found.map((row) => [readKey(row), row]));
  const differences: string[] = [];
  for (const row of expected) {
    const key = readKey(row);
    const other = foundByKey.get(key);
    foundByKey.delete(key);
    if (other === undefined) differences.push(`${what}: ${key} is missing`);
    else differences.push(...compareFields(`${what}: ${key}`, row, other));
  }
  for (const key of foundByKey.keys()) differences.push(`${what}: ${key} is not in the stream`);
  return differences;
}

function compareFields(what: string, expected: object, found: object): string[] {
  const others = new Map(Object.entries(found));
  return Object.entries(expected).flatMap(([name, value]) =>
    others.get(name) === value
      ? []
      : [`${what}: ${name} is ${String(others.get(name))}, ${String(value)} expected`],
  );
}
