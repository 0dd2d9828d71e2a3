import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../../package.json' with { type: 'json' };
import { temporaryDirectory } from '../../support/processes/lifetime.ts';
import { promtool } from '../../support/processes/prometheus.ts';
import { deployDir, readDeployFile, readYaml } from './deployFiles.ts';
import { findMetrics, knownMetrics } from './knownMetrics.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const rulesFile = join(deployDir, 'prometheus/rules.yaml');
const rules = readYaml<{ groups: readonly { rules: readonly Rule[] }[] }>(
  'prometheus/rules.yaml',
).groups.flatMap((group) => group.rules);

/** A fault that begins in some minute: series with a value a minute, the time at which the alert is still quiet, and the time and labels with which it fires. */
interface Case {
  readonly series: Readonly<Record<string, string>>;
  readonly quietAt: string;
  readonly firesAt: string;
  /** When it is quiet again, if the fault ends. */
  readonly endsAt?: string;
  readonly labels: Readonly<Record<string, string>>;
}

const instance = 'replica:8081';
const counter = { instance, stream: 'MINER_COUNTER' };
const noLabels = {};
const on = (labels = {}) => ({ instance, ...labels });
const pipeline = { instance, stream: 'MINER_PIPELINE' };
const select = (labels: Readonly<Record<string, string>>) =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')}}`;

function firing(quietAt: string, firesAt: string, labels: Case['labels'], series: Case['series']): Case {
  return { series, quietAt, firesAt, labels };
}

/** A counter that stands still for half an hour, rises once in the next minute, and stands still again. */
function rising(metric: string, labels: Readonly<Record<string, string>>, by = 1, shown = labels): Case {
  return firing('30m', '32m', shown, { [`${metric}${select(labels)}`]: `0x30 ${by}x60` });
}

/** A gauge that is `bad` from the sixth minute on. */
function buildTurningCase(
  metric: string,
  labels: Readonly<Record<string, string>>,
  good: number,
  bad: number,
  minutes: number,
): Case {
  const series = { [`${metric}${select(labels)}`]: `${good}x5 ${bad}x90` };
  return firing(`${5 + minutes}m`, `${7 + minutes}m`, labels, series);
}

const miner = { job: 'miner', instance };
const state = (stream: string, name: string) =>
  `miner_stream_state${select({ instance, stream, state: name })}`;

const cases: Readonly<Record<string, Case>> = {
  MinerDown: buildTurningCase('up', miner, 1, 0, 1),
  // Prometheus keeps a series for five minutes after its last value, unless it is marked as gone.
  MinerNobodyServes: firing('9m', '13m', noLabels, {
    [`miner_http_server_info${select({ instance, implementation: 'native' })}`]: '1x5 _x60',
    [`miner_ready${select({ instance })}`]: '1x5 _x60',
    // A standby.
    'miner_http_server_info{instance="b",implementation="native"}': '1x66',
  }),
  MinerNobodyIngests: firing('9m', '13m', noLabels, {
    [`miner_rows_flushed_position${select(counter)}`]: '10x5 _x60',
  }),
  MinerTwoProcessesIngest: firing('6m', '9m', noLabels, {
    [`miner_rows_flushed_position${select(counter)}`]: '10x60',
    'miner_rows_flushed_position{instance="b",stream="MINER_COUNTER"}': '_x5 10x60',
  }),
  MinerRestarting: firing('45m', '57m', miner, {
    [`process_start_time_seconds${select(miner)}`]: '1x20 2x10 3x10 4x10 5x10',
    [`miner_build_info${select({ instance })}`]: '1x60',
  }),
  MinerNotReady: buildTurningCase('miner_ready', { instance }, 1, 0, 5),
  MinerStreamNotFollowed: firing('6m', '8m', counter, {
    [state('MINER_COUNTER', 'following')]: '1x5 0x60',
    [state('MINER_COUNTER', 'catchingUp')]: '0x66',
    [state('MINER_COUNTER', 'interrupted')]: '0x5 1x60',
    [state('MINER_CHAIN', 'following')]: '0x66',
    [state('MINER_CHAIN', 'catchingUp')]: '1x66',
  }),
  MinerStreamBehind: buildTurningCase('miner_stream_lag_messages', counter, 1_000, 1_001, 5),
  MinerStreamNotVerified: buildTurningCase('miner_stream_verification_age_seconds', counter, 60, 61, 1),
  MinerStreamInterrupted: rising('miner_stream_interruptions_total', counter, 15),
  MinerReadingsStopped: firing('40m', '47m', noLabels, {
    'miner_messages_total{instance="a",stream="MINER_COUNTER",outcome="accepted"}': '0+60x30 1800x60',
    // A standby has the metric but counts nothing.
    'miner_messages_total{instance="b",stream="MINER_COUNTER",outcome="accepted"}': '0x90',
  }),
  MinerPipelineStopped: firing('60m', '67m', noLabels, {
    'miner_messages_total{instance="a",stream="MINER_PIPELINE",outcome="accepted"}': '0+1x30 30x90',
    'miner_stream_last_sequence{instance="a",stream="MINER_PIPELINE"}': '0+1x30 30x90',
  }),
  MinerChainUnavailable: firing('7m', '9m', on({ views: 'core', condition: 'indexer_unavailable' }), {
    [`miner_chain_condition${select({ instance, views: 'core', condition: 'available' })}`]: '1x5 _x60',
    [`miner_chain_condition${select({ instance, views: 'core', condition: 'indexer_unavailable' })}`]:
      '_x5 1x60',
    [`miner_chain_condition${select({ instance, views: 'economy', condition: 'indexer_disabled' })}`]: '1x60',
  }),
  MinerSafeBlockStuck: firing('60m', '67m', on({ block: 'safe' }), {
    [`miner_chain_block${select({ instance, block: 'safe' })}`]: '100+5x30 250x90',
    [`miner_chain_block${select({ instance, block: 'failed' })}`]: '7x120',
  }),
  MinerIndexerNotFollowing: firing('10m', '12m', on(), {
    [`miner_indexer_state${select({ instance, state: 'following' })}`]: '1x5 0x60',
    [`miner_indexer_state${select({ instance, state: 'failing' })}`]: '0x5 1x60',
  }),
  MinerIndexerBehindNode: firing('15m', '17m', on(), {
    [`miner_indexer_block${select({ instance, block: 'tip' })}`]: '100x5 151x90',
    [`miner_indexer_block${select({ instance, block: 'published' })}`]: '100x90',
  }),
  MinerProviderFailing: rising('miner_indexer_events_total', { instance, event: 'provider_failure' }, 15),
  MinerStreamDiverged: rising('miner_stream_divergences_total', counter),
  MinerDrift: {
    ...buildTurningCase('miner_audit_drifts', { instance }, 0, 1, 0),
    quietAt: '4m',
  },
  MinerAuditsSkipped: firing('65m', '75m', on(), {
    [`miner_audit_samples_total${select({ instance, outcome: 'skipped' })}`]: '0+1x120',
    // Skipped samples are usual, as long as others are compared.
    [`miner_audit_samples_total${select({ instance, outcome: 'agrees' })}`]: '0+1x10 10x110',
  }),
  MinerMessagesRejected: {
    ...rising('miner_messages_rejected_total', { instance, stream: 'MINER_COUNTER', reason: 'malformed' }),
    labels: { stream: 'MINER_COUNTER', reason: 'malformed' },
  },
  MinerNatsClock: buildTurningCase('miner_nats_clock_offset_seconds', { instance }, -10, -11, 5),
  MinerInstallationsFull: firing(
    '5m',
    '7m',
    { stream: 'MINER_COUNTER' },
    {
      [`miner_installations${select(counter)}`]: '40000x5 40001x90',
      [`miner_installations_max${select(counter)}`]: '50000x95',
      [`miner_messages_rejected_total${select({ ...counter, reason: 'too_many_installations' })}`]: '0x95',
    },
  ),
  MinerChainProjectionFailed: buildTurningCase('miner_chain_projection_failed', { instance }, 0, 1, 1),
  MinerSpansRefused: firing('5m', '8m', on(), {
    [`miner_chain_spans_refused${select({ instance: 'service' })}`]: '0x66',
    // Between two attempts the indexer is briefly in another state.
    [`miner_indexer_state${select({ instance, state: 'unpublishable' })}`]: '0x5 1 0 1 0 1 0 1x60',
  }),
  MinerSafeBlocksReplaced: rising('miner_chain_reorganizations_total', { instance, reached: 'safe' }),
  MinerChainRewound: rising('miner_chain_rewinds_total', { instance }),
  MinerResponsesRefused: {
    ...rising('miner_http_failures_total', { instance, route: '/v1/core' }, 1, { route: '/v1/core' }),
    endsAt: '37m',
  },
  MinerMessagesMissed: rising('miner_stream_missed_messages_total', counter),
  MinerDatabaseUnreachable: buildTurningCase('miner_database_reachable', { instance }, 1, 0, 1),
  MinerRowsNotTaken: buildTurningCase('miner_row_writer_failing_seconds', counter, 30, 31, 1),
  MinerRowsWaiting: buildTurningCase('miner_rows_buffered_bytes', counter, 2 ** 24, 2 ** 24 + 1, 5),
  MinerSnapshotsFailing: {
    ...firing('29m', '31m', counter, { [`miner_snapshot_failures${select(counter)}`]: '0x29 1x9 0x60' }),
    endsAt: '41m',
  },
  // From Prometheus 3 on a range does not hold the sample at its beginning, so that it ends a sample earlier.
  MinerSnapshotOld: firing('73m', '77m', pipeline, {
    [`miner_stream_position${select(pipeline)}`]: '1+10x120',
    [`miner_snapshot_position${select(pipeline)}`]: '0+10x30 300x90',
    // A replica saves no snapshots.
    'miner_stream_position{instance="b",stream="MINER_COUNTER"}': '1+10x120',
  }),
  MinerRejectionsNotPublished: buildTurningCase('miner_rejections_waiting', counter, 0, 1, 5),
  MinerStreamSettings: firing(
    '5m',
    '7m',
    { stream: 'MINER_COUNTER', setting: 'retention' },
    {
      [`miner_stream_setting_risks${select({ ...counter, setting: 'retention' })}`]: '_x5 1x60',
    },
  ),
  MinerStoreFilling: firing('10m', '12m', on(), {
    [`miner_nats_store_bytes${select({ instance, kind: 'used' })}`]: '85x5 86x90',
    [`miner_nats_store_bytes${select({ instance, kind: 'limit' })}`]: '100x120',
  }),
  MinerDiskFilling: firing('10m', '12m', on({ disk: 'default' }), {
    [`miner_database_disk_bytes${select({ instance, disk: 'default', kind: 'free' })}`]: '15x5 14x90',
    [`miner_database_disk_bytes${select({ instance, disk: 'default', kind: 'total' })}`]: '100x120',
  }),
  MinerErrors: firing('12m', '30m', on(), {
    [`miner_http_requests_total${select({ instance, route: '/v1/core', status: '200' })}`]: '0+100x60',
    [`miner_http_requests_total${select({ instance, route: '/v1/core', status: '503' })}`]: '0x10 0+2x50',
  }),
  MinerRateLimited: firing('40m', '65m', noLabels, {
    [`miner_http_requests_total${select({ instance, route: '/v1/core', status: '200' })}`]: '0+100x120',
    [`miner_http_requests_total${select({ instance, route: '/v1/core', status: '429' })}`]: '0x30 0+30x90',
  }),
  MinerReadsWaiting: buildTurningCase('miner_http_reads_in_flight', { instance }, 48, 49, 2),
  MinerEventStreamReadsFailing: {
    ...rising('miner_event_stream_failed_reads_total', { instance }),
    endsAt: '37m',
  },
  MinerSlowEventClients: rising('miner_event_stream_slow_clients_total', { instance }, 30),
  MinerHttpFallback: firing('9m', '11m', on({ implementation: 'fallback' }), {
    [`miner_http_server_info${select({ instance, implementation: 'fallback' })}`]: '_x5 1x60',
  }),
  MinerEventLoopBlocked: firing('10m', '12m', miner, {
    [`nodejs_eventloop_lag_p99_seconds${select(miner)}`]: '0.25x5 0.26x90',
    [`miner_build_info${select({ instance })}`]: '1x120',
  }),
  MinerMemoryHigh: firing('15m', '17m', miner, {
    [`process_resident_memory_bytes${select(miner)}`]: '850x5 851x90',
    [`miner_memory_limit_bytes${select({ instance })}`]: '1000x120',
  }),
};

const gibibyte = 2 ** 30;
/** Three servers with three copies of 39 GiB: each store of 50 GiB is 78 % full. */
const threeCopies = {
  'miner_nats_store_bytes{instance="cluster",kind="used"}': `${3 * 39 * gibibyte}x75`,
  'miner_nats_store_bytes{instance="cluster",kind="server"}': `${39 * gibibyte}x75`,
};

/** Series of a healthy service: all cases before their fault, at the thresholds of the rules, and series that the rules must ignore. */
const healthy: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.values(cases)
      .flatMap(({ series }) => Object.entries(series))
      // As each begins, for an hour and a quarter; some begin absent.
      .filter(([, values]) => !values.startsWith('_'))
      .map(([name, values]) => [name, values.replace(/x\d+(?: .*)?$/, 'x75')]),
  ),
  [`miner_http_requests_total${select({ instance, route: '/v1/core', status: '200' })}`]: '0+1000x75',
  [`miner_http_requests_total${select({ instance, route: '/v1/core', status: '503' })}`]: '0+5x75',
  [`miner_http_requests_total${select({ instance, route: '/v1/core', status: '429' })}`]: '0+50x75',
  [`miner_event_stream_slow_clients_total${select({ instance })}`]: '0+1x75',
  [`miner_messages_rejected_total${select({ ...counter, reason: 'duplicate' })}`]: '0+1x75',
  [`miner_chain_reorganizations_total${select({ instance, reached: 'unsafe' })}`]: '0+1x75',
  'process_resident_memory_bytes{job="other",instance="other:1"}': '1e12x75',
  'nodejs_eventloop_lag_p99_seconds{job="other",instance="other:1"}': '9x75',
  ...threeCopies,
  // A process that waits for its state or for the lease, and only its health checks ask it.
  'miner_http_requests_total{instance="waiting",route="/healthz",status="200"}': '0+12x75',
  'miner_http_requests_total{instance="waiting",route="/readyz",status="503"}': '0+12x75',
};

const inputSeries = (series: Readonly<Record<string, string>>) =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }));

/** The sent alert, with its labels filled into the summary. */
function buildAlert({ labels, annotations }: Rule, of: Case) {
  const summary = annotations.summary.replace(
    /\{\{ \$labels\.(\w+) \}\}/g,
    (_, name: string) => of.labels[name] ?? '',
  );
  return { exp_labels: { ...of.labels, ...labels }, exp_annotations: { ...annotations, summary } };
}

/** Longer than any range of the rules, with the time that their alerts wait. */
const healthyMinutes = 120;
/** Series that rise while a process does its work. */
const workSeries =
  /^miner_(?:messages_total\{.*"accepted"|http_requests_total|stream_position|stream_last_sequence|snapshot_position|rows_flushed_position|\w+_block\{)/;

/**
 * Two hours of a process, from one scrape of a healthy one: each minute repeats its values, and the series of its work rise by one.
 *
 * To record a role anew, start it as compose.yaml does, with a chain, readings and NATS from 2.10 on. Let it work and answer public routes for
 * eleven minutes, so that it compares a safe block with the node and saves snapshots, and run in the checkout:
 *
 *     names=$(grep -ohE '\b(miner|nodejs|process)_[a-z0-9_]+' deploy/prometheus/rules.yaml deploy/grafana/service.json | sort -u | paste -sd'|')
 *     curl -s http://127.0.0.1:8081/metrics | grep -E "^($names)[{ ]" | grep -v _bucket > test/deploy/operate/healthy/serve.txt
 */
function repeatHealthy(role: string): Record<string, string> {
  const target = `job="${role === 'index' ? 'miner-indexer' : 'miner'}",instance="${role}"`;
  const lines = readHealthy(role).matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm);
  const series = [...lines]
    // Shows how busy the recording machine was.
    .filter(([, name]) => name !== 'nodejs_eventloop_lag_p99_seconds')
    .map(([line, name = '', labels, value]) => {
      // The clock of promtool begins at 0.
      const start = name === 'process_start_time_seconds' ? '0' : value;
      return [
        `${name}{${labels === undefined ? target : `${labels},${target}`}}`,
        `${start}+${workSeries.test(line) ? 1 : 0}x${healthyMinutes}`,
      ];
    });
  return Object.fromEntries([[`up{${target}}`, `1x${healthyMinutes}`], ...series]);
}

const roles = ['run', 'ingest', 'standby', 'serve', 'index'];
const readHealthy = (role: string) =>
  readFileSync(join(import.meta.dirname, 'healthy', `${role}.txt`), 'utf8');

const findCase = (alert: string) => cases[alert] as Case;

/** Groups cases that share no metric: every rule is evaluated every minute of each group, which takes the time. */
function groupByMetrics(all: readonly Rule[]): readonly (readonly Rule[])[] {
  const groups: { readonly rules: Rule[]; readonly metrics: Set<string> }[] = [];
  for (const rule of all) {
    // The start of a process is a series of the case that needs it.
    const inExpression = findMetrics(rule.expr).filter((metric) => metric !== 'process_start_time_seconds');
    const metrics = [...inExpression, ...Object.keys(findCase(rule.alert).series).flatMap(findMetrics)];
    let group = groups.find((one) => !metrics.some((metric) => one.metrics.has(metric)));
    if (group === undefined) {
      group = { rules: [], metrics: new Set() };
      groups.push(group);
    }
    group.rules.push(rule);
    for (const metric of metrics) group.metrics.add(metric);
  }
  return groups.map((group) => group.rules);
}

function expectPassing(tests: readonly object[]) {
  const path = join(temporaryDirectory(), 'tests.json');
  writeFileSync(path, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests }));
  const { status, output } = promtool(['test', 'rules', path]);
  expect(output).toContain('SUCCESS');
  expect(status).toBe(0);
}

describe('alerts', () => {
  it('fire when a fault has lasted long enough, and neither before nor without one', () => {
    const tests = groupByMetrics(rules).map((group) => ({
      name: group.map(({ alert }) => alert).join(', '),
      interval: '1m',
      input_series: group.flatMap(({ alert }) => inputSeries(findCase(alert).series)),
      alert_rule_test: group.flatMap((rule) => {
        const { quietAt, firesAt, endsAt = quietAt } = findCase(rule.alert);
        const alertname = rule.alert;
        return [
          ...[quietAt, endsAt].map((at) => ({ eval_time: at, alertname, exp_alerts: [] })),
          { eval_time: firesAt, alertname, exp_alerts: [buildAlert(rule, findCase(alertname))] },
        ];
      }),
    }));
    const allIsWell = {
      name: 'all is well',
      interval: '1m',
      input_series: inputSeries(healthy),
      alert_rule_test: rules.flatMap(({ alert: alertname }) =>
        ['1m', '75m'].map((at) => ({ eval_time: at, alertname, exp_alerts: [] })),
      ),
    };
    expectPassing([...tests, allIsWell]);
  });

  it.each([
    ['one process is', ['run']],
    ['a process of every other role is', roles.filter((role) => role !== 'run')],
  ])('stay quiet while %s healthy', (_, processes) => {
    expectPassing([
      {
        interval: '1m',
        input_series: inputSeries(Object.assign({}, ...processes.map(repeatHealthy))),
        promql_expr_test: [
          {
            expr: `group by (alertname, instance) (last_over_time(ALERTS{alertstate="firing"}[${healthyMinutes}m]))`,
            eval_time: `${healthyMinutes}m`,
            exp_samples: [],
          },
        ],
      },
    ]);
  });

  it.each(roles)('are held to a recording of this version: %s', (role) => {
    expect(readHealthy(role)).toContain(`\nminer_build_info{version="${manifest.version}",`);
  });

  it('fire for a fault before the first scrape, and end later', () => {
    const ofAnyRise = rules.filter(({ expr }) => /increase\([^)]*\) > 0/.test(expr));
    expect(ofAnyRise.length).toBe(7);
    const tests = groupByMetrics(ofAnyRise).map((group) => ({
      interval: '1m',
      input_series: [
        { series: `process_start_time_seconds${select(miner)}`, values: '_x30 1790x120' },
        ...group.flatMap(({ alert }) =>
          inputSeries(findCase(alert).series).map(({ series }) => ({ series, values: '_x30 1x120' })),
        ),
      ],
      alert_rule_test: group.flatMap((rule) => [
        { eval_time: '30m', alertname: rule.alert, exp_alerts: [buildAlert(rule, findCase(rule.alert))] },
        { eval_time: '91m', alertname: rule.alert, exp_alerts: [] },
      ]),
    }));
    expectPassing(tests);
  });

  it.each<[string, string, Case]>([
    [
      'fire once a server of NATS is nearly full, whose account has no limit',
      'MinerStoreFilling',
      firing('4m', '7m', on(), {
        ...threeCopies,
        [`miner_nats_store_bytes${select({ instance, kind: 'server' })}`]: `${43 * gibibyte}x75`,
      }),
    ],
    [
      'name the stream that refuses new installations, however many places are taken',
      'MinerInstallationsFull',
      firing(
        '10m',
        '12m',
        { stream: 'MINER_PIPELINE' },
        {
          [`miner_installations${select(pipeline)}`]: '10x60',
          [`miner_installations_max${select(pipeline)}`]: '50000x60',
          [`miner_messages_rejected_total${select({ ...pipeline, reason: 'too_many_installations' })}`]:
            '0x10 1x50',
        },
      ),
    ],
  ])('%s', (_, alertname, fault) => {
    const rule = rules.find(({ alert }) => alert === alertname) as Rule;
    const alert_rule_test = [
      { eval_time: fault.quietAt, alertname, exp_alerts: [] },
      { eval_time: fault.firesAt, alertname, exp_alerts: [buildAlert(rule, fault)] },
    ];
    expectPassing([{ interval: '1m', input_series: inputSeries(fault.series), alert_rule_test }]);
  });

  it('are accepted by Prometheus, with its configuration', () => {
    expect(promtool(['check', 'rules', rulesFile])).toMatchObject({ status: 0 });
    expect(promtool(['check', 'config', join(deployDir, 'prometheus/prometheus.yaml')])).toMatchObject({
      status: 0,
    });
    // A rule that selects a job selects each of them.
    const jobs = [...readDeployFile('prometheus/prometheus.yaml').matchAll(/job_name: (\S+)/g)].map(
      ([, job = '']) => job,
    );
    expect(jobs).toEqual(['miner', 'miner-indexer']);
    const selected = rules.flatMap(({ expr }) => [...expr.matchAll(/job=~"([^"]+)"/g)]);
    for (const [, pattern = ''] of selected)
      expect(jobs.filter((job) => !new RegExp(`^(?:${pattern})$`).test(job))).toEqual([]);
  });

  it('know the store of the shipped nats-server', () => {
    const [, gigabytes] = /max_file_store: (\d+)GB/.exec(readDeployFile('nats/nats.conf')) ?? [];
    const { expr } = rules.find(({ alert }) => alert === 'MinerStoreFilling') as Rule;
    expect(expr).toContain(`(${gigabytes} * 1024 * 1024 * 1024)`);
  });

  it('name metrics that the service has', () => {
    const known = knownMetrics();
    const recorded = roles.flatMap((role) => findMetrics(readHealthy(role)));
    const named = [...recorded, ...rules.flatMap(({ expr }) => findMetrics(expr))];
    expect(named.filter((metric) => !known.has(metric))).toEqual([]);
  });

  it('have a sentence, a severity and a section of the runbook', () => {
    const page = readDeployFile('RUNBOOK.md');
    const sections = page
      .slice(page.indexOf('\n## Alerts\n'), page.indexOf('\n## Procedures\n'))
      .split(/^### /m)
      .slice(1);
    expect(sections.map((section) => section.slice(0, section.indexOf('\n')))).toEqual(
      rules.map(({ alert }) => alert),
    );
    for (const section of sections) {
      expect(section).toMatch(/\*\*Check\*\*/);
      expect(section).toMatch(/\*\*Repair\*\*/);
    }
    for (const { alert, annotations, labels } of rules) {
      expect(annotations.runbook_url).toBe(`deploy/RUNBOOK.md#${alert.toLowerCase()}`);
      expect(annotations.summary).toMatch(/\.$/);
      expect(['critical', 'warning']).toContain(labels.severity);
    }
  });
});
