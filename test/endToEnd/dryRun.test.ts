import { jetstream } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import { inputStreamNames } from '../../actors/messages/subjects.ts';
import { type Address, toAddress } from '../../actors/schemas/hex.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { listLineages, readLineage } from '../../storage/runs/lineages.ts';
import { selectReplayed } from '../../storage/runs/replays.ts';
import { measurementEvents } from '../../storage/tables/events.ts';
import { foldStates } from '../../storage/tables/foldStates.ts';
import { halfHourBuckets } from '../../storage/tables/halfHourBuckets.ts';
import { ownerActivity } from '../../storage/tables/ownerActivity.ts';
import { readings } from '../../storage/tables/readings.ts';
import { rounds } from '../../storage/tables/rounds.ts';
import { rowTablesOf } from '../../storage/tables/rowTables.ts';
import { recordStep } from '../support/chain/feedEvents.ts';
import { unreachedChain } from '../support/chain/unreachedChain.ts';
import { configuredEconomy, minted, transferred } from '../support/chain/writtenEconomy.ts';
import { buildSpan } from '../support/chain/writtenSpans.ts';
import { messageExamples } from '../support/messageExamples.ts';
import { useClickHouseEngine } from '../support/processes/clickHouseEngine.ts';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { minerCommand, startMinerCommand } from '../support/processes/minerCommand.ts';
import {
  startMiner,
  waitUntilFolded,
  waitUntilReady,
  writeDeployment,
} from '../support/processes/minerProcess.ts';
import { startShippedNats } from '../support/processes/shippedNats.ts';
import { publishAll, readingMessage, toPublication } from '../support/readings/readingMessages.ts';
import { openForTest } from '../support/storage/openTables.ts';

const engine = useClickHouseEngine();

/** Readings with a record of the speed each: memory evicts events once it holds more than 2,000. */
const readingCount = 2_050;
/** The first blocks have as many events, and are final once 600 safe ones follow, so that memory evicts events here too. */
const [blocksWithEvents, mintsPerBlock] = [20, 102];
const blocks = blocksWithEvents + 625;
const owners = [1, 2, 3].map((digit) => toAddress(`0x${String(digit).repeat(40)}`));

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
      onChain: unreachedChain,
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
    await waitUntilFolded(first, readingCount);
    await waitUntilFolded(first, blocks, 'MINER_CHAIN');
    await waitUntilFolded(first, pipeline.length, 'MINER_PIPELINE');
    // The end saves the states; where a busy machine has no time for it, the next start does.
    await first.end('SIGTERM');
    const next = await startMiner(settings);
    await waitUntilReady(next);
    await next.end('SIGTERM');
    const environment = {
      MINER_NATS_URL: settings.natsUrl,
      MINER_CLICKHOUSE_URL: clickhouseUrl,
      MINER_DATA_DIR: settings.dataDir,
      MINER_DEPLOYMENT: writeDeployment(settings.dataDir, unreachedChain),
    };
    const database = openForTest({ url: clickhouseUrl });

    // A snapshot of a run that counts no longer.
    await database.command(
      `INSERT INTO ${foldStates.name} SELECT * REPLACE ('lost' AS snapshot, 'lost' AS run, position + 1000 AS position)
       FROM ${foldStates.name} WHERE snapshot = (
         SELECT snapshot FROM ${foldStates.name} WHERE stream = 'MINER_CHAIN' ORDER BY position DESC LIMIT 1
       )`,
    );
    const counting = await readCounting(database);
    const { status, output: sound } = await minerCommand(['replay', '--dry-run'], environment);
    expect([status, sound]).toEqual([0, expect.not.stringMatching(/differs|not compared/)]);
    expect(sound).toMatch(
      /replay of MINER_COUNTER through message 2050, from the beginning on, a dry run\n(?:.*\n)*?rows as folded again: \d+ of stored_rounds, \d+ of stored_half_hour_buckets, [1-9]\d+ of stored_measurement_events_keys, [1-9]\d+ of stored_measurement_events, 2050 of stored_readings\n(?:.*\n)*?state as folded again: [1-9]\d* records\n/,
    );
    expect(sound).toMatch(
      /replay of MINER_PIPELINE .*\n(?:.*\n)*?state as folded again: [1-9]\d* records\n(?:.*\n)*?replay of MINER_CHAIN .*\n(?:.*\n)*?rows as folded again: [1-9]\d+ of stored_chain_events_keys, [1-9]\d+ of stored_chain_events, [1-9]\d+ of stored_owner_activity\n(?:.*\n)*?state as folded again: [1-9]\d* records\n/,
    );
    expect(await readCounting(database)).toEqual(counting);
    await expectEnded(database);
    const stopped = startMinerCommand(['replay', '--dry-run'], environment);
    await stopped.written('replay of MINER_COUNTER');
    await stopped.end('SIGINT');
    expect(stopped.output()).toContain('stopped: what is read has not changed');
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
    const altered = await minerCommand(['replay', '--dry-run', 'MINER_COUNTER'], environment);
    expect(altered.status).toBe(1);
    for (const line of [
      /stored_readings differs: 39 of 2050 rows are missing, and 39 rows are there that the stream does not make; the first of them is of message 1001\n/,
      /stored_rounds differs: 1 of \d+ rows are missing, and 0 rows are there/,
      /stored_measurement_events differs: 1 of .* is of message \d+\n/,
      /stored_measurement_events_keys differs: 0 of \d+ rows are missing, and 1 rows are there .* is of message 1\n/,
      /not compared: 1 rows of messages after 2050, the message of the newest saved state\n/,
      /rebuild it from the stream: `npm run miner -- replay --from-sequence 1`/,
    ])
      expect(altered.output).toMatch(line);
    expect(altered.output.match(/as folded again: /g)).toHaveLength(2);
    const ofChain = await minerCommand(['replay', '--dry-run', 'MINER_CHAIN'], environment);
    expect(ofChain.output).toMatch(
      /stored_owner_activity differs: 3 of .*\n(?:.*\n)*?rows as folded again: .* of stored_chain_events\n(?:.*\n)*?state as .*\n(?:.*\n)*?fill another database/,
    );
    expect(await readCounting(database)).toEqual(counting);
    await expectEnded(database);
  });
});

const readCounting = (database: Database) =>
  Promise.all(inputStreamNames.map((stream) => readLineage(database, stream)));

/** Nothing is left of what a dry run has stored. */
async function expectEnded(database: Database) {
  for (const stream of inputStreamNames) {
    const filled = (await listLineages(database, stream, 'filling')).flatMap(selectReplayed);
    const own = filled.map(({ run }) => run);
    for (const { name } of [foldStates, ...rowTablesOf(stream).map(({ definition }) => definition)])
      for (const [run] of await database.select(`SELECT DISTINCT run FROM ${name}`))
        expect(own).not.toContain(run);
  }
}
