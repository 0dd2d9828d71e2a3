import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { eventually } from '../../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../../support/processes/clickHouseEngine.ts';
import { shareInFile } from '../../support/processes/lifetime.ts';
import { ask, fetchReadiness } from '../../support/processes/minerProcess.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { deployDir, readYaml } from './deployFiles.ts';
import { type Part, standbys, startEveryRole } from './everyRole.ts';
import { findMetrics } from './knownMetrics.ts';
import { promtool } from './promtool.ts';
import {
  describeCondition,
  parseScrape,
  type Recording,
  type Scrape,
  scrapeSeconds,
  stretch,
} from './recordedSeries.ts';

const rulesFile = join(deployDir, 'prometheus/rules.yaml');
const rules = readYaml<{ groups: readonly { rules: readonly { expr: string }[] }[] }>(
  'prometheus/rules.yaml',
).groups.flatMap((group) => group.rules);
/** Metrics of the rules, without the lag of the event loop: it shows how busy the machine of the test is. */
const kept = new Set(rules.flatMap(({ expr }) => findMetrics(expr)));
kept.delete('nodejs_eventloop_lag_p99_seconds');

/** Longer than any range of the rules, with the time that their alerts wait. */
const hours = 2;
const paceMs = 1_500;
const rowsOfFault = 5;

const engine = useClickHouseEngine();
const everyRole = shareInFile(async () => startEveryRole(await engine.createDatabase()));

/** A scrape of each process, in the order of the processes. */
type Row = readonly Scrape[];

interface RecordingOptions {
  readonly parts: readonly Part[];
  /** Called before each row. */
  readonly step: () => Promise<void>;
  /** Whether a process shows what is recorded. A row is taken once all do. */
  readonly isShown: (instance: string, scrape: Scrape, previous: Scrape | undefined) => boolean;
  readonly isComplete: (rows: readonly Row[]) => boolean;
  /** Series whose values may not change either. */
  readonly constant?: RegExp;
}

/**
 * Records rows that all show each process in the same condition: what is seen only for a moment would otherwise last for hours. If a condition
 * changes, the recording begins again.
 */
async function record({
  parts,
  step,
  isShown,
  isComplete,
  constant,
}: RecordingOptions): Promise<Recording[]> {
  let rows: Row[] = [];
  while (!isComplete(rows)) {
    await step();
    const previous = rows.at(-1);
    const row = await eventually(async () => {
      const scrapes = await Promise.all(parts.map(scrape));
      const waiting = parts.filter(
        ({ instance }, index) => !isShown(instance, scrapes[index] as Scrape, previous?.[index]),
      );
      if (waiting.length > 0) {
        // A scrape of every process is dear.
        await pause(paceMs);
        throw new Error(waiting.map(({ instance }) => instance).join(', '));
      }
      return scrapes;
    }, 'what is recorded');
    const describeRow = (scrapes: Row = []) =>
      scrapes.map((one) => describeCondition(one, constant ?? null)).join('\n\n');
    if (describeRow(rows[0]) !== describeRow(row)) rows = [];
    rows.push(row);
  }
  return parts.map(({ instance }, index) => ({
    job: instance.startsWith('indexer') ? 'miner-indexer' : 'miner',
    instance,
    scrapes: rows.map((row) => row[index] as Scrape),
  }));
}

async function scrape({ process }: Part): Promise<Scrape> {
  const text = await (await ask(`${process.operatorUrl}/metrics`)).text();
  return parseScrape(text, kept, Date.now() / 1000);
}

/** Alerts that fire at any time over the recorded hours of one deployment, each with the process that it names, if any. */
function findAlerts(recordings: readonly Recording[]): string[] {
  const series = Object.assign({}, ...recordings.map((recording) => stretch(recording, hours)));
  const interval = `${scrapeSeconds}s`;
  const test = {
    interval,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    // If any fires, this differs from the expectation, and promtool prints it.
    promql_expr_test: [
      {
        expr: `group by (alertname, instance) (last_over_time(ALERTS{alertstate="firing"}[${hours}h]))`,
        eval_time: `${hours}h`,
        exp_samples: [],
      },
    ],
  };
  const path = join(temporaryDirectory(), 'tests.yaml');
  writeFileSync(path, stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests: [test] }));
  const { status, output } = promtool(['test', 'rules', path]);
  const alerts = [...output.matchAll(/\{alertname="(\w+)"(?:, instance="([^"]+)")?\}/g)];
  // Without an alert, a failure is a fault of the test.
  if (alerts.length === 0) expect({ status, output }).toMatchObject({ status: 0 });
  return alerts.map(([, alert, instance]) => (instance === undefined ? `${alert}` : `${alert} ${instance}`));
}

const name = (alerts: readonly string[], instances: readonly string[]) =>
  alerts.flatMap((alert) => instances.map((instance) => `${alert} ${instance}`));

/** A recording is shorter than the time between two snapshots, and some faults prevent them. */
const unsavedState = ['MinerSnapshotOld', 'MinerSnapshotsFailing'];

/** @param may alerts that depend on the moment at which the fault began. */
function expectAlerts(recordings: readonly Recording[], must: readonly string[], may: readonly string[]) {
  const fired = findAlerts(recordings).filter((alert) => must.includes(alert) || !may.includes(alert));
  expect(fired.sort()).toEqual([...must].sort());
}

type World = Awaited<ReturnType<typeof startEveryRole>>;
type Deployment = Part['deployment'];
const both: readonly Deployment[] = ['one process', 'all roles'];

async function publishPaced({ publish }: World, deployments: readonly Deployment[]) {
  const paced = pause(paceMs);
  for (const deployment of deployments) await publish[deployment]();
  await paced;
}

const select = (parts: readonly Part[], deployment: Deployment) =>
  parts.filter((part) => part.deployment === deployment);
const ofParts = (recordings: readonly Recording[], parts: readonly Part[]) =>
  recordings.filter((recording) => parts.some(({ instance }) => instance === recording.instance));

const isReady = ({ values }: Scrape) => values.get('miner_ready') === 1;
const isIndexer = ({ values }: Scrape) => values.has('miner_indexer_state{state="following"}');
const isFollowing = ({ values }: Scrape) => values.get('miner_indexer_state{state="following"}') === 1;
const followsChain = ({ values }: Scrape) =>
  values.has('miner_stream_state{stream="MINER_CHAIN",state="following"}');
const isChainUnavailable = ({ values }: Scrape) =>
  values.has('miner_chain_condition{views="core",condition="indexer_unavailable"}');

/** Whether a process has nothing to do for now. */
function isAtRest({ values }: Scrape, tip: number): boolean {
  return [...values].every(([series, value]) => {
    if (series === 'miner_chain_block{block="head"}' || series.startsWith('miner_indexer_block{'))
      return value === tip;
    if (series.startsWith('miner_stream_lag_messages{')) return value === 0;
    return !(series === 'miner_ready' || series.includes('state="following"')) || value === 1;
  });
}

/** Counts that a busy machine raises now and then: once in a recorded minute would be once in each minute of the hours. */
const disturbances =
  /^miner_stream_interruptions_total|^miner_indexer_events_total\{event="provider_failure"/;

/** Lets a block and messages reach every process, undisturbed. */
async function recordHealthy(world: World, isComplete: RecordingOptions['isComplete']): Promise<Recording[]> {
  let tip = 0;
  const step = async () => {
    await world.economy.mine();
    tip = Number(await world.economy.client.getBlockNumber({ cacheTime: 0 }));
    await publishPaced(world, both);
  };
  return record({
    parts: world.parts,
    step,
    isShown: (_, scraped) => isAtRest(scraped, tip),
    isComplete,
    constant: disturbances,
  });
}

const isFaultRecorded = (rows: readonly Row[]) => rows.length === rowsOfFault;

describe('alerts over recorded hours of every role', () => {
  it('stay silent while each is healthy', async () => {
    const world = await everyRole();
    const recordings = await recordHealthy(world, (rows) => rows.length > 4);
    for (const deployment of both)
      expectAlerts(
        ofParts(recordings, select(world.parts, deployment)),
        [],
        name(['MinerSnapshotOld'], ['alone', 'holder']),
      );
  });

  it('find in a standby only what it knows', async () => {
    const { parts } = await everyRole();
    for (const { instance, process } of parts.filter((part) => standbys.includes(part.instance))) {
      const text = await (await ask(`${process.operatorUrl}/metrics`)).text();
      const shown = new Set([...text.matchAll(/^(miner_\w+)[{ ]/gm)].map(([, metric = '']) => metric));
      const ofPort = [...shown].filter((metric) =>
        /^miner_(?:http|event_stream|reading_delay)_/.test(metric),
      );
      expect(ofPort.length > 0).toBe(instance === 'standby that serves');
      expect([...shown].filter((metric) => !ofPort.includes(metric)).sort()).toEqual([
        'miner_actor_state',
        'miner_actor_transitions_total',
        'miner_build_info',
        'miner_database_reachable',
        'miner_fold_version',
        'miner_memory_limit_bytes',
        'miner_messages_rejected_total',
        'miner_messages_total',
      ]);
      expect(await fetchReadiness(process)).toMatchObject({ chain: { conditions: null } });
    }
  });

  it('name the processes that lack a node, and those whose views lack new blocks', async () => {
    const world = await everyRole();
    world.node.refuse(true);
    const failures = ({ values }: Scrape) =>
      values.get('miner_indexer_events_total{event="provider_failure"}') ?? 0;
    const recordings = await record({
      parts: world.parts,
      step: () => publishPaced(world, both),
      isShown: (_, scraped, previous) => {
        if (followsChain(scraped) && !isChainUnavailable(scraped)) return false;
        if (!isIndexer(scraped)) return true;
        return !isFollowing(scraped) && (previous === undefined || failures(scraped) > failures(previous));
      },
      isComplete: isFaultRecorded,
    });
    world.node.refuse(false);
    const ofViews = ['MinerChainUnavailable', 'MinerSafeBlockStuck'];
    const ofIndexers = ['MinerIndexerNotFollowing', 'MinerProviderFailing'];
    expectAlerts(
      ofParts(recordings, select(world.parts, 'one process')),
      name([...ofViews, ...ofIndexers, 'MinerAuditsSkipped'], ['alone']),
      name(unsavedState, ['alone']),
    );
    expectAlerts(
      ofParts(recordings, select(world.parts, 'all roles')),
      [...name(ofViews, ['holder', 'replica']), ...name(ofIndexers, ['indexer 0', 'indexer 1'])],
      name(unsavedState, ['holder']),
    );
  });

  it('name the processes that lack ClickHouse, among them standbys, which could not take over', async () => {
    const world = await everyRole();
    await recordHealthy(world, (rows) => rows.length > 0);
    await engine.kill();
    const recordings = await record({
      parts: select(world.parts, 'all roles'),
      step: async () => {
        await world.economy.mine();
        await publishPaced(world, ['all roles']);
      },
      isShown: (_, scraped) =>
        scraped.values.get('miner_database_reachable') !== 1 &&
        (isIndexer(scraped) ? isFollowing(scraped) : !isReady(scraped)),
      isComplete: isFaultRecorded,
    });
    await engine.start();
    expectAlerts(
      recordings,
      [
        ...name(['MinerDatabaseUnreachable'], ['holder', 'replica', ...standbys]),
        ...name(['MinerNotReady'], ['holder', 'replica']),
        ...name(['MinerRowsNotTaken'], ['holder']),
      ],
      name([...unsavedState, 'MinerAuditsSkipped'], ['holder', 'replica']),
    );
  });

  it('name the processes that lack NATS, except standbys', async () => {
    const world = await everyRole();
    await recordHealthy(world, (rows) => rows.length > 0);
    await world.nats.kill();
    const recordings = await record({
      parts: select(world.parts, 'all roles'),
      step: async () => {
        await world.economy.mine();
        await pause(paceMs);
      },
      isShown: (_, scraped) =>
        isIndexer(scraped)
          ? !isFollowing(scraped)
          : !followsChain(scraped) || (isChainUnavailable(scraped) && !isReady(scraped)),
      isComplete: isFaultRecorded,
    });
    const ofFollowers = [
      'MinerStreamNotFollowed',
      'MinerStreamNotVerified',
      'MinerNotReady',
      'MinerChainUnavailable',
      'MinerSafeBlockStuck',
    ];
    expectAlerts(
      recordings,
      [
        ...name(ofFollowers, ['holder', 'replica']),
        ...name(['MinerIndexerNotFollowing'], ['indexer 0', 'indexer 1']),
        'MinerReadingsStopped',
      ],
      name([...unsavedState, 'MinerAuditsSkipped'], ['holder', 'replica']),
    );
  });
});
