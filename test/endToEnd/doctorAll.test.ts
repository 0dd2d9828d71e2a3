import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { type FoldRecord, parseRecord } from '../../actors/folds/foldRecord.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import { type Address, toAddress } from '../../actors/schemas/hex.ts';
import { checkAll } from '../../deploy/commands/doctor/checkAll.ts';
import { openParts } from '../../deploy/commands/runDoctor.ts';
import { formatFinding } from '../../deploy/diagnosis/finding.ts';
import { requireValue } from '../../machines/requireValue.ts';
import { type Database, openDatabase } from '../../storage/clickhouse/database.ts';
import { listUnfinished } from '../../storage/runs/fills.ts';
import { readLineage } from '../../storage/runs/lineages.ts';
import { readCounted } from '../../storage/runs/mergedRuns.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { measurementEvents } from '../../storage/tables/events.ts';
import { foldStates } from '../../storage/tables/foldStates.ts';
import { halfHourBuckets } from '../../storage/tables/halfHourBuckets.ts';
import { ownerActivity } from '../../storage/tables/ownerActivity.ts';
import { readings } from '../../storage/tables/readings.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { recordStep } from '../support/chain/feedEvents.ts';
import { unreachedChain } from '../support/chain/unreachedChain.ts';
import { configuredEconomy, minted, transferred } from '../support/chain/writtenEconomy.ts';
import { buildSpan, writtenContracts } from '../support/chain/writtenSpans.ts';
import { hideProgress } from '../support/hideProgress.ts';
import { messageExamples } from '../support/messageExamples.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { minerCommand, startMinerCommand } from '../support/processes/minerCommand.ts';
import {
  readDeployment,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { startShippedNats } from '../support/processes/shippedNats.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import {
  publishAll,
  publishMany,
  readingMessage,
  toPublication,
} from '../support/readings/readingMessages.ts';
import { openForTest } from '../support/storage/openTables.ts';

const engine = useClickHouseEngine();

/** Readings with a record of the speed each: memory evicts events once it holds more than 2,000. */
const readingCount = 2_050;
/** The first blocks have as many events, and are final once 600 safe ones follow, so that memory evicts events here too. */
const [blocksWithEvents, mintsPerBlock] = [20, 102];
const blocks = blocksWithEvents + 625;
const owners = [1, 2, 3].map((digit) => toAddress(`0x${String(digit).repeat(40)}`));
const onChain = { ...unreachedChain, contracts: writtenContracts };

function buildBlock(number: number): string {
  const [owner, other] = [owners[number % 3], owners[(number + 1) % 3]] as [Address, Address];
  const firstToken = number * mintsPerBlock;
  const mined = [
    ...Array.from({ length: mintsPerBlock }, (_, at) => minted(owner, firstToken + at)),
    transferred(owner, other, firstToken),
  ];
  const events = number === 1 ? configuredEconomy : number <= blocksWithEvents + 1 ? mined : [];
  return JSON.stringify(buildSpan({ number, events }));
}

describe('doctor --all', () => {
  it('compares every row and state with a fresh fold', async () => {
    // With the rights of the shipped users.
    const [nats, clickhouseUrl] = [await startShippedNats(), await engine.createDatabase()];
    const connection = await nats.connectAs('operator');
    const js = jetstream(connection);
    const settings = {
      natsUrl: nats.urlOf('ingest'),
      clickhouseUrl,
      dataDir: temporaryDirectory(),
      onChain,
    };
    const first = await startMiner(settings);
    await waitUntilReady(first);
    const publications = Array.from({ length: readingCount }, (_, index) =>
      toPublication(readingMessage('wheel.one', index, { speedMmPerSecond: index * recordStep })),
    );
    await publishAll(connection, publications);
    const spans = Array.from({ length: blocks }, (_, index) => buildBlock(index + 1));
    await publishAll(
      connection,
      spans.map((body) => ({ subject: 'miner.chain.31337.span', body })),
    );
    const pipeline = messageExamples.filter(({ subject }) =>
      /^miner\.(module|signer|oracle|reporter)/.test(subject),
    );
    for (const { subject, text } of pipeline) await js.publish(subject, text);
    await waitUntilStored(first, readingCount);
    await waitUntilFolded(first, blocks, 'MINER_CHAIN');
    await waitUntilFolded(first, pipeline.length, 'MINER_PIPELINE');
    // The end saves the states.
    await first.end('SIGTERM');
    const miner = await startMiner(settings);
    await waitUntilReady(miner);
    const environment = {
      MINER_NATS_URL: settings.natsUrl,
      MINER_CLICKHOUSE_URL: clickhouseUrl,
      MINER_DATA_DIR: settings.dataDir,
      MINER_DEPLOYMENT: writeDeployment(settings.dataDir, onChain),
      MINER_OPS_PORT: new URL(miner.operatorUrl).port,
    };
    const all = () => minerCommand(['doctor', '--all'], environment);
    const database = openDatabase({ url: clickhouseUrl });

    // A snapshot of a history that counts no longer.
    await database.command(
      `INSERT INTO ${foldStates.name} SELECT * REPLACE ('lost' AS snapshot, 'lost' AS run, position + 1000 AS position)
       FROM ${foldStates.name} WHERE snapshot = (
         SELECT snapshot FROM ${foldStates.name} WHERE stream = 'MINER_CHAIN' ORDER BY position DESC LIMIT 1
       )`,
    );
    const counting = await readCounting(database);
    const sound = await all();
    expect(sound.output).toMatch(
      /ok +rows of MINER_COUNTER: as folded again: \d+ of stored_rounds, \d+ of stored_half_hour_buckets, ([1-9]\d+) of stored_measurement_events_ids, [1-9]\d+ of stored_measurement_events_keys, \1 of stored_measurement_events, 2050 of stored_readings\n/,
    );
    expect(sound.output).toMatch(
      /ok +rows of MINER_CHAIN: as folded again: [1-9]\d* of stored_chain_events_ids, [1-9]\d+ of stored_chain_events_keys, [1-9]\d+ of stored_chain_events, [1-9]\d+ of stored_owner_activity, /,
    );
    for (const stream of ['COUNTER', 'PIPELINE', 'CHAIN'])
      expect(sound.output).toMatch(
        new RegExp(`ok +state of MINER_${stream}: as folded again: [1-9]\\d* records\\n`),
      );
    expect(sound.output).toMatch(
      /nothing wrong was found, .*; every row through the newest saved states was compared\n$/,
    );
    expect(sound.output).not.toContain('newer than the newest');
    expect(sound.status).toBe(0);
    expect(await readCounting(database)).toEqual(counting);
    await expectEnded(database);

    // Rows in a few half hours, which samples rarely meet: their counts stay the same.
    const alter = (table: string, change: string) =>
      database.command(`ALTER TABLE ${table} UPDATE ${change} SETTINGS mutations_sync = 1`);
    await alter(readings.name, 'distance_mm = distance_mm + 1 WHERE position >= 1001 AND position < 1040');
    await alter(measurementEvents.events.name, "event = '{}' WHERE position = 77");
    await alter(ownerActivity.name, 'level = 9 WHERE event_number = 3');
    await database.command(
      `ALTER TABLE ${rounds.name} DELETE WHERE round_id = 5 SETTINGS mutations_sync = 1`,
    );
    const counted = (await readLineage(database, 'MINER_COUNTER'))?.runs.at(-1)?.run ?? '';
    const insertChanged = (table: string, change: string) =>
      database.command(
        `INSERT INTO ${table} SELECT * REPLACE (${change}) FROM ${table} WHERE run = {run:String} LIMIT 1`,
        { run: counted },
      );
    await insertChanged(measurementEvents.keys.name, '1 AS position, 1 AS stored_by');
    const after = readingCount + 1;
    await insertChanged(
      halfHourBuckets.name,
      `${after} AS position, ${after} AS stored_by, start + 86400 AS start`,
    );
    const altered = await all();
    expect(altered.status).toBe(1);
    for (const line of [
      /FAILED +rows of MINER_COUNTER: stored_readings: 39 of 2050 rows are missing, and 39 rows are there that the stream does not make; the first of them is of message 1001\n +-> .*replay --from-sequence 1001`/,
      /FAILED +rows of MINER_COUNTER: stored_rounds: 1 of \d+ rows are missing, and 0 rows are there/,
      /FAILED +rows of MINER_COUNTER: stored_measurement_events: 1 of .* is of message \d+\n/,
      /FAILED +rows of MINER_COUNTER: stored_measurement_events_keys: 0 of \d+ rows are missing, and 1 rows are there .* is of message 1\n/,
      /skipped +rows of MINER_COUNTER: 1 rows of messages after 2050 are newer than the newest saved state, so they cannot be compared yet\n/,
      /FAILED +rows of MINER_CHAIN: stored_owner_activity: 3 of .*\n +-> fill another database/,
    ])
      expect(altered.output).toMatch(line);
    expect(altered.output).toMatch(/ok +rows of MINER_CHAIN: as folded again: .* of stored_chain_events, /);
    for (const stream of ['COUNTER', 'PIPELINE', 'CHAIN'])
      expect(altered.output).toMatch(new RegExp(`ok +state of MINER_${stream}: `));
    expect(await readCounting(database)).toEqual(counting);
    await expectEnded(database);

    // A row of a message that the stream does not have would mean that it has lost its end.
    await database.command(
      `ALTER TABLE ${halfHourBuckets.name} DELETE WHERE position > ${readingCount} SETTINGS mutations_sync = 1`,
    );
    expect(await minerCommand(['replay', '--from-sequence', '1'], environment)).toMatchObject({
      status: 0,
      output: expect.stringContaining('the service has taken it over'),
    });
    expect(await compareAll(environment, database, await nats.connectAs('ingest'))).toMatch(
      /ok +rows of MINER_COUNTER: .* 2050 of stored_readings\n/,
    );

    await database.close();
  });

  it('fails for each record of a state that differs', async () => {
    const nats = await startNats();
    const { connection } = await connectTo(nats);
    const settings = { natsUrl: nats.url, dataDir: temporaryDirectory() };
    const environment = {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: settings.dataDir,
      MINER_DEPLOYMENT: writeDeployment(settings.dataDir),
    };
    const miner = await startMiner(settings);
    await waitUntilReady(miner);
    const pipeline = messageExamples.filter(({ subject }) => /^miner\.(signer|oracle)/.test(subject));
    for (const { subject, text } of pipeline) await jetstream(connection).publish(subject, text);
    await publishMany(connection, 'wheel.other', 0, 3);
    await waitUntilStored(miner, 3);
    await waitUntilFolded(miner, pipeline.length, 'MINER_PIPELINE');
    await miner.end('SIGTERM');
    const database = openForTest({ path: join(settings.dataDir, 'clickhouse') });
    const all = () => compareAll(environment, database, connection);
    for (const stream of ['MINER_COUNTER', 'MINER_PIPELINE'] as const)
      await changeState(database, stream, ({ kind, key, value }) => {
        if (kind === 'places') return null;
        const heard = JSON.parse(value.replace(/"heardAtMs":\d+/, '"heardAtMs":1'));
        // The order of members has no meaning.
        const members = Array.isArray(heard) ? heard : Object.fromEntries(Object.entries(heard).reverse());
        return { kind, key, value: JSON.stringify(members) };
      });
    const changed = await all();
    for (const stream of ['COUNTER', 'PIPELINE'])
      expect(changed).toMatch(new RegExp(`FAILED +state of MINER_${stream}: 2 of \\d+ records differ`));
    await changeState(database, 'MINER_PIPELINE', (record) =>
      record.kind === 'closedRound' ? null : record,
    );
    expect(await all()).toMatch(/FAILED +state of MINER_PIPELINE: 4 of \d+ records differ: .*closedRound/);
  });

  it('begins with a saved state, and leaves nothing to resume', async () => {
    const nats = await startNats();
    const connected = await connectTo(nats);
    const settings = { natsUrl: nats.url, dataDir: temporaryDirectory() };
    const environment = {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: settings.dataDir,
      MINER_DEPLOYMENT: writeDeployment(settings.dataDir),
    };
    const all = () => minerCommand(['doctor', '--all'], environment);
    const foldMore = async (from: number, to: number) => {
      const miner = await startMiner(settings);
      await waitUntilReady(miner);
      await publishMany(connected.connection, 'wheel.one', from, to);
      await waitUntilStored(miner, to);
      return miner;
    };
    const both = await minerCommand(['doctor', '--all', '--quick'], environment);
    expect(both.output).toContain("option '--quick' cannot be used with option '--all'");
    const withoutNats = await minerCommand(['doctor', '--all'], { MINER_DATA_DIR: temporaryDirectory() });
    expect(withoutNats.output).toMatch(/FAILED +everything: there are no streams to fold again\n/);
    const withoutState = await all();
    expect(withoutState.output).toMatch(/FAILED +stream MINER_COUNTER: stream not found/);
    await (await foldMore(0, 600)).end('SIGTERM');
    const second = await foldMore(600, 1_200);
    const inUse = await all();
    expect(inUse.output).toMatch(/FAILED +everything: .*in use by process \d+.*\n +-> stop that process/);
    expect(inUse.status).toBe(1);
    await second.end('SIGTERM');

    const stopped = startMinerCommand(['doctor', '--all'], environment);
    await stopped.written('checking everything');
    expect(await stopped.end('SIGINT')).toBe(1);
    expect(stopped.output()).toMatch(/FAILED +everything of MINER_COUNTER: it was stopped/);
    const database = openForTest({ path: join(settings.dataDir, 'clickhouse') });
    await expectEnded(database);

    const compare = () => compareAll(environment, database, connected.connection);
    await connected.jsm.streams.update('MINER_COUNTER', { max_msgs: 600 });
    const later = await compare();
    expect(later).toMatch(
      /skipped +everything of MINER_COUNTER: messages 1 to 600 have left the stream, so what was made from them cannot be compared\nok +rows of MINER_COUNTER: .* 600 of stored_readings\nok +state of MINER_COUNTER: /,
    );
    expect(later).not.toContain('FAILED');
    await database.command(
      'ALTER TABLE stored_readings UPDATE distance_mm = 0 WHERE position IN (600, 601) SETTINGS mutations_sync = 1',
    );
    expect(await compare()).toMatch(
      /FAILED +rows of MINER_COUNTER: stored_readings: 1 of 600 .* is of message 601\n/,
    );
    await connected.jsm.streams.update('MINER_COUNTER', { max_msgs: 500 });
    expect(await compare()).toMatch(
      /FAILED +everything of MINER_COUNTER: messages through 700 have left the stream, and no earlier state is saved\n/,
    );
  });
});

/** The lines of `doctor --all` about the streams, from an open database. Other tests here run the command. */
async function compareAll(
  environment: Record<string, string>,
  database: Database,
  connection: NatsConnection,
): Promise<string> {
  const deployment = readDeployment(environment);
  const { signal } = new AbortController();
  const parts = await openParts(connection);
  const findings = await hideProgress(() => checkAll({ ...parts, database, deployment, signal }));
  return findings
    .flatMap(formatFinding)
    .map((line) => `${line}\n`)
    .join('');
}

/** Changes the newest state of a stream that counts. */
async function changeState(
  database: Database,
  stream: InputStreamName,
  change: (record: FoldRecord) => FoldRecord | null,
) {
  const store = createSnapshotStore(database);
  const isCounted = await readCounted(database, await readLineage(database, stream));
  const header = requireValue((await store.list(stream)).find(isCounted), stream);
  const records: FoldRecord[] = [];
  for await (const lines of store.read(header)) records.push(...lines.map(parseRecord));
  const changed = records.map(change).filter((record) => record !== null);
  await store.save({ ...header, takenAtMs: header.takenAtMs + 1 }, changed, () => true);
}

const readCounting = (database: Database) =>
  Promise.all(inputStreamNames.map((stream) => readLineage(database, stream)));

/** Nothing is kept of what a check has stored. */
async function expectEnded(database: Database) {
  for (const stream of inputStreamNames)
    for (const cause of ['filling', 'checking'] as const)
      expect(await listUnfinished(database, stream, cause)).toEqual([]);
}
