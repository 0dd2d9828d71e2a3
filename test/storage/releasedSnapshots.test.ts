import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parse } from '../../actors/bigintJson.ts';
import { createChainActors } from '../../actors/chain/chainActors.ts';
import type { SpanFoldSettings } from '../../actors/chain/fold/spanFoldState.ts';
import type { FoldIdentity } from '../../actors/foldIdentity.ts';
import { type FoldRecord, parseRecord } from '../../actors/foldRecord.ts';
import { aheadMsMax } from '../../actors/messages/futureTimes.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import type { Database } from '../../storage/database.ts';
import { readGenerationIdentity } from '../../storage/generationIdentity.ts';
import { openEnd, readLineage } from '../../storage/lineages.ts';
import { migrate } from '../../storage/migrations.ts';
import { releasedSnapshots } from '../../storage/releasedSnapshots.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { generations } from '../../storage/tables/generations.ts';
import { migrations } from '../../storage/tables/migrations.ts';
import { insertRows } from '../../storage/tables/table.ts';
import { resolveTables } from '../../storage/tables.ts';
import { restoreState } from '../support/restoreState.ts';
import { createBaseline } from '../support/storage/createBaseline.ts';
import { openForTest } from '../support/storage/openTables.ts';
import { collectLines } from '../support/streams/collectLines.ts';

type ReleasedRow = Parameters<typeof releasedSnapshots.encode>[0][number];

/**
 * What version 1.0.0 stored of these messages: whole states, and parts with changes and removals, among them those of a reorganization and
 * of evicted activity. It was recorded with the code of that version, which folded and saved the messages.
 */
const recorded = parse(
  gunzipSync(readFileSync(resolve(import.meta.dirname, 'releasedSnapshots.json.gz'))).toString(),
) as {
  readonly genesisMs: number;
  readonly settings: Omit<SpanFoldSettings, 'retainedFromBlock'>;
  readonly messages: Readonly<
    Record<
      InputStreamName,
      readonly {
        readonly seq: number;
        readonly subject: string;
        readonly text: string;
        readonly storedAtMs: number;
      }[]
    >
  >;
  readonly rows: readonly ReleasedRow[];
};
const { genesisMs, settings, messages } = recorded;
const deployment = { genesisTimestamp: genesisMs / 1000, installationId: 'wheel.one' };
const tables = resolveTables(1);
const table = `${releasedSnapshots.name}_g1`;

interface Actors {
  readonly identity: FoldIdentity;
  receive(message: StreamMessage): unknown;
  capture(): Iterable<FoldRecord>;
  beginRestore(): { add(record: FoldRecord): void; complete(): () => void };
}

const createActors: Readonly<Record<InputStreamName, () => Actors>> = {
  MINER_COUNTER: () => createCounterActors({ genesisMs, publicInstallationId: deployment.installationId }),
  MINER_PIPELINE: () => createSettlementActors({ genesisMs }),
  MINER_CHAIN: () => createChainActors(settings),
};

/** The state after the messages of a stream through one of them. */
function fold(stream: InputStreamName, through: number): Actors {
  const actors = createActors[stream]();
  for (const { seq, subject, text, storedAtMs } of messages[stream])
    if (seq <= through)
      actors.receive({
        seq,
        subject,
        data: Buffer.from(text),
        timestampNanos: BigInt(storedAtMs) * 1_000_000n,
      });
  return actors;
}

/** Values by kind and key, without what version 1.0 did not note: when installations were heard, and the places of the day. */
function listNoted(records: Iterable<FoldRecord>): ReadonlyMap<string, unknown> {
  const noted = [...records].filter(({ kind }) => kind !== 'places' && kind !== 'heard');
  return new Map(
    noted.map(({ kind, key, value }) => {
      const read = parse(value) as { heardAtMs?: number; keys?: string };
      if (kind === 'installation') delete read.heardAtMs;
      // A message with a member that is null was remembered in another form.
      if (kind === 'rememberedIds' && key.includes('/messages/')) read.keys = String(read.keys?.length);
      return [`${kind} ${key}`, read];
    }),
  );
}

async function openReleased(rows = recorded.rows): Promise<Database> {
  const database = openForTest();
  await createBaseline(database);
  for (const row of rows) await insertRows(database, releasedSnapshots, [row], table);
  return database;
}

async function upgrade(database: Database) {
  const { lines, logger } = collectLines('info');
  await migrate(database, logger, deployment);
  return lines;
}

async function readState(database: Database, stream: InputStreamName) {
  const store = createSnapshotStore({ database, tables: () => tables });
  const headers = await store.list(stream);
  const [header] = headers;
  if (header === undefined) return null;
  expect(headers).toHaveLength(1);
  const records: FoldRecord[] = [];
  for await (const lines of store.read(header)) records.push(...lines.map(parseRecord));
  return { header, records };
}

/** Everything that the migration has written. The same records may be compressed in other pieces. */
async function listStored(database: Database) {
  const states: unknown[] = [];
  for (const stream of inputStreamNames) {
    const state = await readState(database, stream);
    states.push({ ...state, header: { ...state?.header, checksum: null } });
  }
  return [states, await readGenerationIdentity(database, tables)];
}

const isNewestOf =
  (stream: InputStreamName) =>
  (row: ReleasedRow): boolean =>
    row.stream === stream &&
    row.ordinal ===
      Math.max(...recorded.rows.filter((one) => one.stream === stream).map(({ ordinal }) => ordinal));

/** The row of a part with a single chunk, with another text. */
function rewrite(row: ReleasedRow, change: (text: string) => string): ReleasedRow {
  const text = change(gunzipSync(Buffer.from(row.payload, 'base64')).toString());
  const payload = gzipSync(text).toString('base64');
  return { ...row, payload, checksum: createHash('sha256').update(payload).digest('hex') };
}

describe('an upgrade from 1.0', () => {
  it('continues every stream from its newest state, as if this version had folded it', async () => {
    const database = await openReleased();
    const before = await database.select(`SELECT count(), sum(cityHash64(*)) FROM ${table}`);
    await upgrade(database);
    for (const stream of inputStreamNames) {
      const last = messages[stream].at(-1)?.seq ?? 0;
      const state = await readState(database, stream);
      if (state === null) throw new Error(`${stream} has no state`);
      const folded = fold(stream, last);
      expect(state.header).toMatchObject({
        ...folded.identity,
        ...{ position: last, digest: `digest ${last}`, streamCreated: `${stream} created` },
      });
      expect(listNoted(state.records)).toEqual(listNoted(folded.capture()));
      const lineage = await readLineage(database, stream);
      expect(lineage?.runs ?? []).toEqual(
        stream === 'MINER_CHAIN' ? [{ run: state.header.run, through: openEnd }] : [],
      );
      const restored = createActors[stream]();
      restoreState(restored, state.records);
      expect(listNoted(restored.capture())).toEqual(listNoted(folded.capture()));
    }
    // The tables of 1.0 stay, for a way back.
    expect(await database.select(`SELECT count(), sum(cityHash64(*)) FROM ${table}`)).toEqual(before);
    const { identity } = createActors.MINER_COUNTER();
    expect(await readGenerationIdentity(database, tables)).toMatchObject(identity);
  });

  it('that is killed at any statement ends like an uninterrupted one', async () => {
    const database = await openReleased();
    const prune = async () => {
      await database.command(`DROP TABLE ${tables.foldStates}`);
      for (const one of [generations.name, migrations.name])
        await database.command(`ALTER TABLE ${one} DELETE WHERE true SETTINGS mutations_sync = 1`);
      await insertRows(database, migrations, [{ number: 1, name: 'baseline' }]);
    };
    await upgrade(database);
    const expected = await listStored(database);
    await prune();
    let kills = 0;
    for (let isComplete = false; !isComplete; kills++) {
      let left = kills;
      const countDown =
        <Parameters_ extends unknown[], Result>(statement: (...given: Parameters_) => Promise<Result>) =>
        async (...given: Parameters_) => {
          if (left-- <= 0) throw new Error('killed');
          return statement(...given);
        };
      const killed: Database = {
        ...database,
        command: countDown(database.command),
        select: countDown(database.select),
        selectPlain: countDown(database.selectPlain),
        insertBlocks: countDown(database.insertBlocks),
      };
      isComplete = await upgrade(killed).then(
        () => true,
        (error: Error) => {
          expect(error.message).toBe('killed');
          return false;
        },
      );
    }
    expect(kills).toBeGreaterThan(15);
    expect(await listStored(database)).toEqual(expected);
  });

  it.each([
    [
      'names a time in the future',
      'MINER_COUNTER',
      (rows: readonly ReleasedRow[]) =>
        rows.map((row) =>
          isNewestOf('MINER_COUNTER')(row) ? { ...row, takenAtMs: row.takenAtMs - aheadMsMax - 2_000 } : row,
        ),
      /names a time in the future \(/,
    ],
    [
      'holds half of a surrogate pair',
      'MINER_COUNTER',
      (rows: readonly ReleasedRow[]) =>
        rows.map((row) =>
          isNewestOf('MINER_COUNTER')(row)
            ? rewrite(row, (text) => text.replace('"softwareVersion":"test"', '"softwareVersion":"\\ud83d"'))
            : row,
        ),
      /half of a surrogate pair/,
    ],
    [
      'has closed a round that had not ended',
      'MINER_PIPELINE',
      (rows: readonly ReleasedRow[]) => rows,
      /round \d+ ends in the future/,
    ],
    [
      'is damaged',
      'MINER_CHAIN',
      (rows: readonly ReleasedRow[]) =>
        rows.map((row) => (isNewestOf('MINER_CHAIN')(row) ? { ...row, checksum: '0' } : row)),
      /checksum/,
    ],
    [
      'is of another version',
      'MINER_CHAIN',
      (rows: readonly ReleasedRow[]) =>
        rows.map((row) => (row.stream === 'MINER_CHAIN' ? { ...row, foldVersion: 7 } : row)),
      /another version or deployment/,
    ],
  ] as const)(
    'leaves a state out that %s, with a line in the log, and takes the others over',
    async (_, stream, change, reason) => {
      const database = await openReleased(change(recorded.rows));
      const { lines, logger } = collectLines('info');
      const genesisTimestamp =
        stream === 'MINER_PIPELINE'
          ? deployment.genesisTimestamp + 3_600 * 24 * 365
          : deployment.genesisTimestamp;
      await migrate(database, logger, { ...deployment, genesisTimestamp });
      expect(await readState(database, stream)).toBeNull();
      const text = lines
        .map((line) => JSON.stringify(line))
        .find((line) => line.includes('not taken over') && line.includes(stream));
      expect(text).toMatch(reason);
      const others = inputStreamNames.filter(
        (one) => one !== stream && (one !== 'MINER_COUNTER' || stream !== 'MINER_PIPELINE'),
      );
      for (const other of others) expect(await readState(database, other)).not.toBeNull();
    },
  );

  it('takes the state before a missing part over', async () => {
    const database = await openReleased(
      recorded.rows.filter((row) => row.stream !== 'MINER_COUNTER' || row.part !== 2),
    );
    await upgrade(database);
    const state = await readState(database, 'MINER_COUNTER');
    expect(state?.header.position).toBe(450);
    expect(listNoted(state?.records ?? [])).toEqual(listNoted(fold('MINER_COUNTER', 450).capture()));
  });
});
