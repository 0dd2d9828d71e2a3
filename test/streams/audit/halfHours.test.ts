import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../../storage/clickhouse/database.ts';
import { createRecentReadings } from '../../../storage/reading/recentReadings.ts';
import { readHalfHour } from '../../../storage/reading/storedHalfHour.ts';
import { readLineage } from '../../../storage/runs/lineages.ts';
import { halfHourBuckets } from '../../../storage/tables/halfHourBuckets.ts';
import {
  auditHalfHour,
  type CounterMemory,
  findHalfHour,
  type HalfHourAuditOptions,
} from '../../../streams/audit/auditHalfHour.ts';
import { genesisMs } from '../../support/genesis.ts';
import { eventually } from '../../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../../support/processes/clickHouseEngine.ts';
import { minerCommand } from '../../support/processes/minerCommand.ts';
import {
  type MinerProcess,
  startMiner,
  waitUntilReady,
  waitUntilStored,
  writeDeployment,
} from '../../support/processes/minerProcess.ts';
import { startShippedNats } from '../../support/processes/shippedNats.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../../support/readings/readingMessages.ts';

const engine = useClickHouseEngine();
/** Three installations, a reading of each every ten seconds: an hour and more. */
const messages = 1_200;

const samples = (outcome: string) => `miner_audit_samples_total{kind="half_hour",outcome="${outcome}"}`;
const drifts = 'miner_audit_drifts{kind="half_hour"}';

it('the self-audit finds changed half hours, names the repair, and sees it', async () => {
  // With the rights of the shipped users: `ingest` folds, audits, replays and asks the doctor.
  const [nats, clickhouseUrl] = [await startShippedNats(), await engine.createDatabase()];
  const connection = await nats.connectAs('operator');
  const [js, jsm] = [jetstream(connection), await jetstreamManager(connection)];
  const natsUrl = nats.urlOf('ingest');
  const dataDir = temporaryDirectory();
  const settings = { natsUrl, clickhouseUrl, dataDir, environment: { MINER_AUDIT_SECONDS: '1' } };
  const first = await startMiner(settings);
  await waitUntilReady(first);
  await publishAll(connection, mixedPublications(messages));
  await waitUntilStored(first, messages);
  // The end saves a snapshot, and everything below it is stored.
  await first.end('SIGTERM');
  const miner = await startMiner(settings);
  await waitUntilReady(miner);
  const countAgreeing = async (of: MinerProcess) => (await of.metric(samples('agrees'))) ?? 0;
  await eventually(async () => (await countAgreeing(miner)) >= 3, 'three samples that agree');
  expect(miner.log().filter(({ repair }) => repair !== undefined)).toEqual([]);
  expect(await miner.metric(samples('drift'))).toBe(0);
  const environment = {
    MINER_NATS_URL: natsUrl,
    MINER_CLICKHOUSE_URL: clickhouseUrl,
    MINER_DATA_DIR: dataDir,
    MINER_DEPLOYMENT: writeDeployment(dataDir),
    MINER_OPS_PORT: new URL(miner.operatorUrl).port,
  };
  const { output } = await minerCommand(['doctor'], {
    ...environment,
    MINER_NATS_URL: nats.urlOf('serve'),
  });
  expect(output).toContain('nothing wrong was found');
  expect(output).toMatch(/ok +self-audit: [1-8] samples of \d+ half hours agree/);
  expect(output).toMatch(/ok +clock: /);
  const replica = await startMiner({ ...settings, role: 'serve', natsUrl: nats.urlOf('serve') });
  await eventually(async () => ((await replica.metric(samples('agrees'))) ?? 0) > 0, 'an audit of a replica');

  // Each half hour of each installation agrees with its messages, although some were rejected.
  const database = openDatabase({ url: clickhouseUrl });
  onTestFinished(() => database.close());
  const readRuns = async () => (await readLineage(database, 'MINER_COUNTER'))?.runs ?? [];
  const options: HalfHourAuditOptions = {
    connection,
    js,
    jsm,
    database,
    oldestReadingMs: () => null,
    genesisMs,
    publicInstallationId: 'wheel.one',
    readRuns,
    memory: () => null,
  };
  const audit = async (sequence: number, memory: CounterMemory | null = null) => {
    const sample = await findHalfHour(options, sequence);
    return sample === null ? null : auditHalfHour({ ...options, memory: () => memory }, sample, messages);
  };
  const chosen = await findHalfHour(options, 1);
  if (chosen === null) throw new Error('no half hour');
  const beforeHistory = await auditHalfHour({ ...options, readRuns: async () => [] }, chosen, messages);
  expect(beforeHistory.outcome).toBe('skipped');
  const outcomes = new Map<string, string>();
  for (let sequence = 1; sequence <= messages; sequence += 61) {
    const found = await audit(sequence);
    if (found !== null) outcomes.set(found.about, found.outcome);
  }
  const byOutcome = (outcome: string) => [...outcomes.values()].filter((one) => one === outcome).length;
  expect([byOutcome('agrees'), byOutcome('drift')]).toEqual([6, 0]);
  // The last half hour is open.
  expect(byOutcome('skipped')).toBeGreaterThan(0);

  // Memory holds a reading that differs from the stream.
  const recent = createRecentReadings({ storedThrough: () => 0 });
  const half = { installationId: 'wheel.one', startMs: genesisMs };
  const { readings } = await readHalfHour(database, await readRuns(), {
    ...half,
    fromPosition: 1,
    throughPosition: messages,
  });
  for (const reading of readings)
    recent.add(reading.position === 100 ? { ...reading, distanceMm: reading.distanceMm + 1 } : reading);
  const memory = { recent, history: null };
  expect(await audit(100, memory)).toMatchObject({
    outcome: 'drift',
    differences: [expect.stringMatching(/^readings in memory: 100: distanceMm is \d+, \d+ expected$/)],
  });

  // Sums are lost.
  await database.command(`TRUNCATE TABLE ${halfHourBuckets.name}`);
  await eventually(async () => ((await miner.metric(drifts)) ?? 0) > 0, 'drift');
  const line = miner.log().find(({ repair }) => repair !== undefined);
  expect(line?.about).toMatch(/^half hour 2026-01-31T1\d:[03]0:00\.000Z of wheel/);
  expect(line?.differences).toEqual([expect.stringMatching(/^sums in ClickHouse: \d+ is missing$/)]);
  expect(line?.repair).toMatch(/^npm run miner -- replay --from-sequence \d+$/);

  const doctor = await minerCommand(['doctor'], environment);
  expect(doctor.output).toMatch(/FAILED +self-audit: half hour .*sums in ClickHouse: \d+ is missing/);
  expect(doctor.output).toMatch(/FAILED +self-audit of the service: half hour /);
  expect(doctor.status).toBe(1);

  expect((await minerCommand(['replay', '--from-sequence', '1'], environment)).status).toBe(0);
  await eventually(async () => (await miner.metric(drifts)) === 0, 'agreement');
  expect(miner.output()).toContain('a known difference no longer exists');
  for (const one of [miner, replica]) {
    await one.written('a replay has made another state');
    const statistics = `${one.publicUrl}/v1/measurement/stats?range=7d`;
    await eventually(async () => (await fetch(statistics)).ok, 'statistics of the new state');
  }
});

it('the self-audit skips messages of an installation that had no place', async () => {
  const [nats, clickhouseUrl] = [await startShippedNats(), await engine.createDatabase()];
  const connection = await nats.connectAs('operator');
  const environment = { MINER_INSTALLATIONS_MAX: '1' };
  const dataDir = temporaryDirectory();
  const miner = await startMiner({ natsUrl: nats.urlOf('ingest'), clickhouseUrl, dataDir, environment });
  await waitUntilReady(miner);
  await publishAll(connection, mixedPublications(messages));
  await waitUntilStored(miner, messages);
  const refused = 'miner_messages_rejected_total{stream="MINER_COUNTER",reason="too_many_installations"}';
  expect(await miner.metric(refused)).toBeGreaterThan(300);
  await miner.end('SIGTERM');

  const database = openDatabase({ url: clickhouseUrl });
  onTestFinished(() => database.close());
  const readRuns = async () => (await readLineage(database, 'MINER_COUNTER'))?.runs ?? [];
  const options: HalfHourAuditOptions = {
    connection,
    js: jetstream(connection),
    jsm: await jetstreamManager(connection),
    database,
    oldestReadingMs: () => null,
    genesisMs,
    publicInstallationId: 'wheel.one',
    readRuns,
    memory: () => null,
  };
  const outcomes: Record<string, string> = {};
  for (let sequence = 1; sequence <= messages; sequence += 61) {
    const sample = await findHalfHour(options, sequence);
    if (sample === null) continue;
    const { outcome } = await auditHalfHour(options, sample, messages);
    outcomes[`${sample.installationId} ${(sample.startMs - genesisMs) / 60_000}`] = outcome;
  }
  expect(outcomes).toMatchObject({
    ...{ 'wheel.one 0': 'agrees', 'wheel.one 30': 'agrees' },
    ...{ 'wheel:two 0': 'agrees', 'wheel:two 30': 'agrees' },
    ...{ 'wheel-three 0': 'skipped', 'wheel-three 30': 'skipped' },
  });
});
