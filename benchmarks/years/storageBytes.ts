import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../storage/database.ts';

/** Every column of the table of readings is tried with these. */
const times = column("DateTime64(3, 'UTC')", [
  'LZ4',
  'ZSTD(1)',
  'Delta, ZSTD(1)',
  'DoubleDelta, LZ4',
  'DoubleDelta, ZSTD(1)',
  'T64, ZSTD(1)',
]);
const counters = column('UInt64', [
  'LZ4',
  'ZSTD(1)',
  'Delta, LZ4',
  'Delta, ZSTD(1)',
  'DoubleDelta, ZSTD(1)',
  'T64, ZSTD(1)',
]);
const measures = column('UInt64', [
  'LZ4',
  'ZSTD(1)',
  'Delta, ZSTD(1)',
  'DoubleDelta, ZSTD(1)',
  'T64, LZ4',
  'T64, ZSTD(1)',
]);
const identifiers = column('UUID', ['NONE', 'LZ4', 'ZSTD(1)']);
const amounts = column('UInt256', ['LZ4', 'ZSTD(1)', 'ZSTD(3)']);
const names = [...column('LowCardinality(String)', ['LZ4', 'ZSTD(1)']), ...column('String', ['ZSTD(1)'])];

/** By column: its type in the tables of versions before, and what is compared with it. */
const columns: Readonly<
  Record<string, { readonly before: string; readonly candidates: readonly Candidate[] }>
> = {
  installation_id: { before: 'String', candidates: names },
  position: { before: 'Int64', candidates: counters },
  telemetry_id: { before: 'String', candidates: identifiers },
  boot_id: { before: 'String', candidates: identifiers },
  sequence: { before: 'Int64', candidates: counters },
  observed_at: { before: 'Int64', candidates: times },
  received_at: { before: 'Int64', candidates: times },
  counter_epoch: { before: 'String', candidates: identifiers },
  cumulative_work_units: { before: 'String', candidates: amounts },
  provenance: {
    before: 'String',
    candidates: column("Enum8('hardware' = 1, 'simulated' = 2, 'replay' = 3, 'derived' = 4)", [
      'LZ4',
      'ZSTD(1)',
    ]),
  },
  software_version: {
    before: 'Nullable(String)',
    candidates: [
      ...column('LowCardinality(Nullable(String))', ['LZ4', 'ZSTD(1)']),
      ...column('Nullable(String)', ['LZ4', 'ZSTD(1)']),
    ],
  },
  core_status: {
    before: 'String',
    candidates: column("Enum8('IDLE' = 1, 'ACTIVE' = 2, 'COUNTER_FAULT' = 3)", ['LZ4', 'ZSTD(1)']),
  },
  rpm_milli: { before: 'Int64', candidates: measures },
  speed_mm_per_second: { before: 'Int64', candidates: measures },
  distance_mm: { before: 'Int64', candidates: measures },
};

interface Candidate {
  readonly type: string;
  readonly codec: string;
}

function column(type: string, codecs: readonly string[]): Candidate[] {
  return codecs.map((codec) => ({ type, codec }));
}

/** ClickHouse's default, which the tables of versions before have. */
const defaultCodec = 'LZ4';

export interface StorageBytesOptions {
  /** In total, of ten installations, one per second each. */
  readonly readings: number;
}

/**
 * Compressed bytes per reading of each column, by type and codec: the readings of ten wheels that run at night are generated in the embedded
 * engine, written once with every candidate, and merged into one part.
 */
export async function measureStorageBytes({ readings }: StorageBytesOptions): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-bench-'));
  const database = openDatabase({ path: dir });
  try {
    const variants = Object.entries(columns).flatMap(([name, { before, candidates }]) =>
      [{ type: before, codec: defaultCodec }, ...candidates].map((candidate, at) => ({
        ...candidate,
        name,
        variant: `${name}_${at}`,
        isBefore: at === 0,
      })),
    );
    await database.command(
      `CREATE TABLE variants (installation String, place UInt64, ${variants
        .map(({ variant, type, codec }) => `${variant} ${type} CODEC(${codec})`)
        .join(', ')}) ENGINE = MergeTree ORDER BY (installation, place) SETTINGS min_bytes_for_wide_part = 0`,
    );
    await database.command(
      `INSERT INTO variants SELECT installation_id, position, ${variants
        .map(({ name, type, isBefore }) => writeValue(name, type, isBefore))
        .join(', ')} FROM (${generateReadings(readings)}) SETTINGS max_insert_threads = 1`,
    );
    await database.command('OPTIMIZE TABLE variants FINAL');
    const bytes = await compressedBytes(database);
    print(
      readings,
      variants.map((one) => ({ ...one, bytesPerReading: (bytes.get(one.variant) ?? 0) / readings })),
    );
  } finally {
    await database.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/**
 * One reading per second and wheel, with jitter of up to 40 ms and 20 to 200 ms to the gateway. A wheel runs ten hours of each day; its speed
 * varies slowly and its counter counts by millions.
 */
function generateReadings(readings: number): string {
  const isActive = '(second % 86400 < 36000)';
  const activeSeconds = '(intDiv(second, 86400) * 36000 + least(second % 86400, 36000))';
  const uuid = (...parts: string[]) =>
    `reinterpretAsUUID(sipHash128(${['number % 10', ...parts].join(', ')}))`;
  return `
    SELECT
      concat('wheel.', toString(number % 10)) AS installation_id,
      number + 1 AS position,
      generateUUIDv4(number) AS telemetry_id,
      ${uuid("'boot'", 'intDiv(second, 259200)')} AS boot_id,
      second % 259200 AS sequence,
      fromUnixTimestamp64Milli(toInt64(1769860800000 + second * 1000 + rand(1) % 40), 'UTC') AS observed_at,
      addMilliseconds(observed_at, 20 + rand(2) % 180) AS received_at,
      ${uuid("'epoch'")} AS counter_epoch,
      toUInt256(${activeSeconds}) * 1000000 + rand(3) % 400000 AS cumulative_work_units,
      'hardware' AS provenance,
      '2.4.1' AS software_version,
      if(${isActive}, 'ACTIVE', 'IDLE') AS core_status,
      if(${isActive}, toUInt64(60000 + 9000 * sin(second / 300) + rand(4) % 500), 0) AS rpm_milli,
      intDiv(rpm_milli * 52, 1000) AS speed_mm_per_second,
      toUInt64(${activeSeconds} * 3100 + rand(5) % 400) AS distance_mm
    FROM (SELECT number, intDiv(number, 10) AS second FROM numbers(${readings}))
    ORDER BY installation_id, position`;
}

function writeValue(name: string, type: string, isBefore: boolean): string {
  if (!isBefore) return `CAST(${name} AS ${type})`;
  if (name.endsWith('_at')) return `toUnixTimestamp64Milli(${name})`;
  return type.includes('String') ? `toString(${name})` : `toInt64(${name})`;
}

async function compressedBytes(database: Database): Promise<ReadonlyMap<string, number>> {
  const rows = await database.select(
    `SELECT name, toString(data_compressed_bytes) FROM system.columns
     WHERE database = currentDatabase() AND table = 'variants'`,
  );
  return new Map(rows.map(([name, bytes]) => [String(name), Number(bytes)]));
}

interface Variant extends Candidate {
  readonly name: string;
  readonly isBefore: boolean;
  readonly bytesPerReading: number;
}

function print(readings: number, variants: readonly Variant[]): void {
  const lines = ['| column | before | candidates, in bytes per reading |', '|---|---|---|'];
  let [bytesBefore, bytesBest] = [0, 0];
  for (const name of Object.keys(columns)) {
    const own = variants.filter((one) => one.name === name);
    const [first, ...others] = own as [Variant, ...Variant[]];
    const sorted = others.toSorted((a, b) => a.bytesPerReading - b.bytesPerReading);
    bytesBefore += first.bytesPerReading;
    bytesBest += (sorted[0] as Variant).bytesPerReading;
    const { type: bestType } = sorted[0] as Variant;
    const shown = sorted.map(({ type, codec, bytesPerReading }) => {
      const figure = `${codec} ${bytesPerReading.toFixed(3)}`;
      return type === bestType ? figure : `${type} ${figure}`;
    });
    const before = `${first.type} ${first.bytesPerReading.toFixed(3)}`;
    lines.push(`| \`${name}\` | ${before} | ${bestType.replace(/\(.*= .*\)/, '')}: ${shown.join(' · ')} |`);
  }
  lines.push(`| all | ${bytesBefore.toFixed(1)} | the smallest of each: ${bytesBest.toFixed(1)} |`);
  process.stdout.write(`${readings.toLocaleString('en-US')} readings\n\n${lines.join('\n')}\n`);
}
