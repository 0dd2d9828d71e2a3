import { join } from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import { type FoldRecord, parseRecord } from '../../actors/folds/foldRecord.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import { type Address, toAddress } from '../../actors/schemas/hex.ts';
import { replay } from '../../deploy/commands/replay/replay.ts';
import { prepareReplay } from '../../deploy/commands/replay/replayOptions.ts';
import { requireValue } from '../../machines/requireValue.ts';
import { type Database, openDatabase } from '../../storage/clickhouse/database.ts';
import { findLastRun, listLineages, openEnd, readLineage } from '../../storage/runs/lineages.ts';
import { readCounted } from '../../storage/runs/mergedRuns.ts';
import { createSnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { measurementEvents } from '../../storage/tables/events.ts';
import { foldStates } from '../../storage/tables/foldStates.ts';
import { halfHourBuckets } from '../../storage/tables/halfHourBuckets.ts';
import { ownerActivity } from '../../storage/tables/ownerActivity.ts';
import { readings } from '../../storage/tables/readings.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
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
import { silentLogger } from '../support/silentLogger.ts';
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

describe('replay --dry-run', () => {
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
    const compare = () => minerCommand(['replay', '--dry-run'], environment);
    const database = openDatabase({ url: clickhouseUrl });

    // A snapshot of a history that counts no longer.
    await database.command(
      `INSERT INTO ${foldStates.name} SELECT * REPLACE ('lost' AS snapshot, 'lost' AS run, position + 1000 AS position)
       FROM ${foldStates.name} WHERE snapshot = (
         SELECT snapshot FROM ${foldStates.name} WHERE stream = 'MINER_CHAIN' ORDER BY position DESC LIMIT 1
       )`,
    );
    const counting = await readCounting(database);
    const sound = await compare();
    expect(sound.output).toMatch(
      /replay of MINER_COUNTER through message 2050, from the beginning on, a dry run\n(?:.*\n)*?rows as folded again: \d+ of stored_rounds, \d+ of stored_half_hour_buckets, [1-9]\d+ of stored_measurement_events_keys, [1-9]\d+ of stored_measurement_events, 2050 of stored_readings\nstate as folded again: [1-9]\d* records\n/,
    );
    expect(sound.output).toMatch(
      /\nreplay of MINER_PIPELINE .*\n(?:.*\n)*?state as folded again: [1-9]\d* records\nreplay of MINER_CHAIN .*\n(?:.*\n)*?rows as folded again: [1-9]\d+ of stored_chain_events_keys, [1-9]\d+ of stored_chain_events, [1-9]\d+ of stored_owner_activity, .*\nstate as folded again: [1-9]\d* records\n/,
    );
    expect(sound.output).not.toMatch(/differs|not compared/);
    expect(sound.status).toBe(0);
    expect(await readCounting(database)).toEqual(counting);
    await expectEnded(database);

    // Most counts of rows stay the same.
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
    const altered = await compare();
    expect(altered.status).toBe(1);
    for (const line of [
      /stored_readings differs: 39 of 2050 rows are missing, and 39 rows are there that the stream does not make; the first of them is of message 1001\n/,
      /stored_rounds differs: 1 of \d+ rows are missing, and 0 rows are there/,
      /stored_measurement_events differs: 1 of .* is of message \d+\n/,
      /stored_measurement_events_keys differs: 0 of \d+ rows are missing, and 1 rows are there .* is of message 1\n/,
      /not compared: 1 rows of messages after 2050, the message of the newest saved state\n/,
      /rebuild it from the stream: `npm run miner -- replay --from-sequence 1`/,
      /stored_owner_activity differs: 3 of .*\nrows as folded again: .* of stored_chain_events, .*\nstate as .*\nfill another database/,
    ])
      expect(altered.output).toMatch(line);
    expect(altered.output.match(/state as folded again: /g)).toHaveLength(3);
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
    const one = await minerCommand(['replay', '--dry-run', 'MINER_COUNTER'], environment);
    expect(one.output).toMatch(/rows as folded again: .* 2050 of stored_readings\n/);
    expect(one.output).not.toContain('MINER_CHAIN');
    expect(one.status).toBe(0);

    await database.close();
  });

  it('names the records of a state that differ, whatever the order of their members', async () => {
    const nats = await startNats();
    const { connection, jetStream } = await connectTo(nats);
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
    const compare = () => compareAll(environment, database, jetStream);
    for (const stream of ['MINER_COUNTER', 'MINER_PIPELINE'] as const)
      await changeState(database, stream, ({ kind, key, value }) => {
        if (kind === 'places') return null;
        const isHeard = kind === 'installation' || kind === 'heard';
        const heard = isHeard ? value.replace(/\d+(,null)?\]$/, '1$1]') : value;
        return { kind, key, value: JSON.stringify(JSON.parse(heard, (_, member) => reverseMembers(member))) };
      });
    expect(await compare()).toMatch(
      /the state differs: 2 of \d+ records, .*\nrebuild it .*\nreplay of MINER_PIPELINE .*\n.*\nthe state differs: 2 of \d+ records, .*\nfill another/,
    );
    await changeState(database, 'MINER_PIPELINE', (record) =>
      record.kind === 'closedRound' ? null : record,
    );
    expect(await compare()).toMatch(/the state differs: \d+ of \d+ records, .*closedRound/);
  });

  it('begins with a saved state, and leaves nothing behind', async () => {
    const nats = await startNats();
    const { connection, jsm, jetStream } = await connectTo(nats);
    const settings = { natsUrl: nats.url, dataDir: temporaryDirectory() };
    const environment = {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: settings.dataDir,
      MINER_DEPLOYMENT: writeDeployment(settings.dataDir),
    };
    const command = ['replay', '--dry-run'];
    const foldMore = async (from: number, to: number) => {
      const miner = await startMiner(settings);
      await waitUntilReady(miner);
      await publishMany(connection, 'wheel.one', from, to);
      await waitUntilStored(miner, to);
      return miner;
    };
    await (await foldMore(0, 600)).end('SIGTERM');
    const second = await foldMore(600, 1_200);
    const inUse = await minerCommand(command, environment);
    expect([inUse.status, inUse.output]).toEqual([1, expect.stringMatching(/in use by process \d+/)]);
    await second.end('SIGTERM');

    const stopped = startMinerCommand(command, environment);
    await stopped.written('replay of MINER_COUNTER');
    await stopped.end('SIGINT');
    expect(stopped.output()).toContain('stopped: what is read has not changed');
    const database = openForTest({ path: join(settings.dataDir, 'clickhouse') });
    await expectEnded(database);

    const compare = () => compareAll(environment, database, jetStream);
    await jsm.streams.update('MINER_COUNTER', { max_msgs: 600 });
    const later = await compare();
    expect(later).toMatch(
      /MINER_COUNTER through message 1200, from the state that is saved at 600 on, .*\n.*\nrows as folded again: .* 600 of stored_readings\nstate as /,
    );
    expect(later).not.toContain('differs');
    expect(later).toContain('MINER_PIPELINE: nothing to fold');
    await database.command(
      'ALTER TABLE stored_readings UPDATE distance_mm = 0 WHERE position IN (600, 601) SETTINGS mutations_sync = 1',
    );
    expect(await compare()).toMatch(/stored_readings differs: 1 of 600 .* is of message 601\n/);
    await jsm.streams.update('MINER_COUNTER', { max_msgs: 500 });
    expect(await compare()).toContain(
      'MINER_COUNTER: messages through 700 have left the stream, and no earlier state is saved',
    );
  });

  it('compares no readings that the TTL may have removed', async () => {
    const nats = await startNats();
    const dataDir = temporaryDirectory();
    const ttlDays = 32;
    // The oldest reading that is kept lies within the first of the three hours of readings.
    const startMs = Math.floor(Date.now() / 1_800_000 - 1) * 1_800_000 - ttlDays * 86_400_000;
    const miner = await startMiner({
      natsUrl: nats.url,
      dataDir,
      startMs,
      environment: { MINER_READINGS_TTL_DAYS: String(ttlDays) },
    });
    await waitUntilReady(miner);
    const { connection } = await connectTo(nats);
    const messages = Array.from({ length: 200 }, (_, index) => {
      const time = new Date(startMs + index * 60_000).toISOString();
      return toPublication(readingMessage('wheel.one', index, { observedAt: time, receivedAt: time }));
    });
    await publishAll(connection, messages);
    await waitUntilStored(miner, messages.length);
    expect(await miner.end('SIGTERM')).toBe(0);
    const { status, output } = await minerCommand(['replay', '--dry-run', 'MINER_COUNTER'], {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: dataDir,
      MINER_DEPLOYMENT: writeDeployment(dataDir, {}, startMs),
    });
    expect(output).toMatch(/rows as folded again: .*, 0 of stored_readings\nstate as folded again: /);
    expect(status).toBe(0);
  });
});

/** What the command says, from an open database. Other tests here run the command. */
async function compareAll(
  environment: Record<string, string>,
  database: Database,
  jetStream: StreamPort,
): Promise<string> {
  const said: string[] = [];
  const options = {
    ...{ jetStream, database, dryRun: true, logger: silentLogger },
    deployment: readDeployment(environment),
    signal: new AbortController().signal,
    print: (line: string) => said.push(line),
  };
  await prepareReplay(options);
  await hideProgress(() => replay(options, { streams: inputStreamNames, from: { sequence: 1 } }));
  return said.map((line) => `${line}\n`).join('');
}

/** The same value, whose members have another order. */
const reverseMembers = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).reverse())
    : value;

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

/** Nothing is kept of what a dry run has stored. */
async function expectEnded(database: Database) {
  for (const stream of inputStreamNames) {
    const noted = await listLineages(database, stream, 'filling');
    const ended = new Set(
      noted.flatMap(({ runs }) => runs.flatMap(({ run, through }) => (through === openEnd ? [] : run))),
    );
    for (const { runs } of noted) expect(ended).toContain(findLastRun(runs));
  }
}
