// The loop that a developer would write by hand to keep readings: `node dist/tools/storingLoop.js TASK` decodes each message and inserts its row. Prints its rate.
import { DeliverPolicy, jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { openDatabase } from '../storage/clickhouse/database.ts';
import { closeNats } from '../streams/nats/jetStreamPort.ts';
import { readNatsAccess } from '../streams/nats/natsAccess.ts';

export interface StoringTask {
  readonly natsUrl: string;
  /** Folder of its embedded ClickHouse. */
  readonly path: string;
  readonly readings: number;
}

const rowsPerInsert = 20_000;
const columns = {
  position: 'UInt64',
  telemetryId: 'UUID',
  installationId: 'String',
  bootId: 'UUID',
  sequence: 'UInt64',
  observedAt: 'DateTime64(3)',
  receivedAt: 'DateTime64(3)',
  counterEpoch: 'UUID',
  cumulativeWorkUnits: 'UInt256',
  provenance: 'LowCardinality(String)',
  softwareVersion: 'Nullable(String)',
  coreStatus: 'LowCardinality(String)',
  rpmMilli: 'UInt64',
  speedMmPerSecond: 'UInt64',
  distanceMm: 'UInt64',
};

const { natsUrl, path, readings } = JSON.parse(process.argv[2] ?? '') as StoringTask;
const database = openDatabase({ path });
const definitions = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
await database.command(
  `CREATE TABLE readings (${definitions.join(', ')}) ENGINE = MergeTree ORDER BY (installationId, position)`,
);
const insertion =
  "INSERT INTO readings SETTINGS date_time_input_format = 'best_effort', input_format_skip_unknown_fields = 1 FORMAT JSONEachRow\n";
const connection = await connect(readNatsAccess({ url: natsUrl }));
const consumer = await jetstream(connection).consumers.get('MINER_COUNTER', {
  deliver_policy: DeliverPolicy.StartSequence,
  opt_start_seq: 1,
});
const delivered = await consumer.consume({ max_messages: 2_000 });
const startedMs = performance.now();
let stored = 0;
let rows: string[] = [];
/** The insert in progress: the loop reads on meanwhile. */
let insert = Promise.resolve();
for await (const message of delivered) {
  rows.push(JSON.stringify({ position: message.seq, ...message.json<object>() }));
  stored++;
  if (rows.length < rowsPerInsert && stored < readings) continue;
  await insert;
  insert = database.command(insertion + rows.join('\n'));
  rows = [];
  if (stored === readings) break;
}
await insert;
const seconds = (performance.now() - startedMs) / 1_000;
process.stdout.write(`${readings} messages stored (${Math.round(readings / seconds)} per second)\n`);
await database.close();
await closeNats(connection);
