import {
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  RowBuilder,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TimeSeriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

const source = { type: 'prometheus', uid: '$datasource' };
const [narrow, half] = [4, 12];
const [low, high] = [4, 8];

type Query = readonly [expression: string, legend: string];

function queries(list: readonly Query[]): DataqueryBuilder[] {
  return list.map(([expression, legend], at) =>
    new DataqueryBuilder()
      .expr(expression)
      .legendFormat(legend)
      .refId(String.fromCharCode(65 + at))
      .datasource(source),
  );
}

type Steps = readonly { readonly value: number | null; readonly color: 'green' | 'yellow' | 'red' }[];

/** Green below the first value, red from the second. */
function wellBelow(look: number, act: number): Steps {
  return [
    { value: null, color: 'green' },
    { value: look, color: 'yellow' },
    { value: act, color: 'red' },
  ];
}

/** Zero is a failure; one has no replacement. */
const wellFromTwo: Steps = [
  { value: null, color: 'red' },
  { value: 1, color: 'yellow' },
  { value: 2, color: 'green' },
];

interface NumberPanel {
  readonly title: string;
  readonly about: string;
  readonly steps: Steps;
  readonly expression: string;
}

function number({ title, about, steps, expression }: NumberPanel) {
  return new StatBuilder()
    .title(title)
    .description(about)
    .unit('short')
    .span(narrow)
    .height(low)
    .datasource(source)
    .noValue('no data')
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([...steps]))
    .targets(queries([[expression, '']]));
}

function chart(title: string, about: string, unit: string, ...list: readonly Query[]) {
  return new TimeSeriesBuilder()
    .title(title)
    .description(about)
    .unit(unit)
    .min(0)
    .fillOpacity(8)
    .span(half)
    .height(high)
    .datasource(source)
    .targets(queries(list));
}

type PanelOfRow = StatBuilder | TimeSeriesBuilder;

const questions: readonly (readonly [question: string, answers: readonly PanelOfRow[]])[] = [
  [
    'Is what it shows fresh and right?',
    [
      number({
        title: 'Processes that serve',
        about: 'At zero, callers get no answer.',
        steps: wellFromTwo,
        expression: 'count(miner_http_server_info) or vector(0)',
      }),
      number({
        title: 'Streams that are not followed',
        about: 'In all processes. Their state does not advance.',
        steps: wellBelow(1, 1),
        expression:
          'count(sum by (instance, stream) (miner_stream_state{state=~"following|catchingUp"}) == 0) or vector(0)',
      }),
      number({
        title: 'Messages not folded',
        about: 'In the process and stream that is farthest behind.',
        steps: wellBelow(1_000, 10_000),
        expression: 'max(miner_stream_lag_messages)',
      }),
      number({
        title: 'Blocks behind the node',
        about: 'For the indexer nearest to its node.',
        steps: wellBelow(10, 50),
        expression:
          'min(miner_indexer_block{block="tip"} - ignoring (block) miner_indexer_block{block="published"})',
      }),
      number({
        title: 'Divergences per day',
        about: 'How often a stream was not the folded one.',
        steps: wellBelow(1, 1),
        expression: 'sum(increase(miner_stream_divergences_total[1d]))',
      }),
      number({
        title: 'Drift',
        about:
          'Half hours and safe blocks that differ from their sources. The log has the command that corrects each.',
        steps: wellBelow(1, 1),
        expression: 'max(sum by (instance) (miner_audit_drifts))',
      }),
      number({
        title: 'Messages missed per day',
        about: 'They left a stream before they were folded.',
        steps: wellBelow(1, 1),
        expression: 'max(increase(miner_stream_missed_messages_total[1d]))',
      }),
      chart(
        'Ages',
        'Age of the newest reading and safe block in views, and time since each stream was known to be read to its end, in the slowest process.',
        's',
        ['min(miner_newest_reading_age_seconds)', 'newest reading'],
        ['min(miner_safe_block_age_seconds)', 'safe block'],
        ['max by (stream) (miner_stream_freshness_age_seconds)', 'read to its end: {{stream}}'],
      ),
      chart(
        'Messages folded',
        'By stream and outcome, in the process that folds most. If readings stop, look at the gateway. Rejected messages are in MINER_REJECTED.',
        'cps',
        ['max by (stream, outcome) (rate(miner_messages_total[5m]))', '{{stream}} {{outcome}}'],
      ),
      chart(
        'Chain',
        'Blocks: the node’s newest, the last published, the last folded, the newest safe one.',
        'none',
        ['max(miner_indexer_block{block="tip"})', 'tip of the node'],
        ['max(miner_indexer_block{block="published"})', 'published'],
        ['min by (block) (miner_chain_block)', '{{block}}'],
      ),
      chart(
        'Samples compared',
        'Half hours with their messages, safe blocks with the node, per hour. Samples that cannot be compared are skipped.',
        'short',
        ['sum by (kind, outcome) (increase(miner_audit_samples_total[1h]))', '{{kind}} {{outcome}}'],
      ),
      chart('Condition of chain views', 'Routes show any condition but `available`.', 'short', [
        'count by (views, condition) (miner_chain_condition == 1)',
        '{{views}}: {{condition}}',
      ]),
      chart(
        'Reorganizations and refusals',
        'Replaced safe blocks, rewinds, and answers that their own schema refused.',
        'short',
        [
          'max by (reached) (increase(miner_chain_reorganizations_total[1h]))',
          'reorganizations, {{reached}} blocks',
        ],
        ['max(increase(miner_chain_rewinds_total[1h]))', 'rewinds'],
        ['sum by (route) (increase(miner_http_failures_total[1h]))', 'refused: {{route}}'],
      ),
    ],
  ],
  [
    'What is waiting?',
    [
      chart('Messages not folded', 'By process and stream.', 'short', [
        'miner_stream_lag_messages',
        '{{instance}} {{stream}}',
      ]),
      chart('Rows that wait for ClickHouse', 'At 32 MiB the stream is paused.', 'bytes', [
        'miner_rows_buffered_bytes',
        '{{stream}}',
      ]),
      chart(
        'ClickHouse takes no rows',
        'Duration by stream, and the number of processes that do not reach it.',
        's',
        ['miner_row_writer_failing_seconds', '{{stream}}'],
        ['count(miner_database_reachable == 0) or vector(0)', 'processes without it'],
      ),
      chart(
        'Stored and saved behind what is folded',
        'In messages. A start folds the messages after the snapshot again.',
        'short',
        ['miner_stream_position - on (instance, stream) miner_rows_flushed_position', 'rows of {{stream}}'],
        [
          'miner_stream_position - on (instance, stream) miner_snapshot_position and on (instance) miner_rows_flushed_position',
          'snapshot of {{stream}}',
        ],
        ['miner_rejections_waiting', 'rejections of {{stream}}'],
      ),
      chart(
        'States entered',
        'By part of a process, in a quarter of an hour. A part that often enters a state has trouble that comes and goes.',
        'short',
        ['topk(10, increase(miner_actor_transitions_total[15m]) > 0)', '{{instance}} {{actor}}: {{state}}'],
      ),
    ],
  ],
  [
    'What is slow?',
    [
      chart('Requests', 'By status, in all processes.', 'reqps', [
        'sum by (status) (rate(miner_http_requests_total[5m]))',
        '{{status}}',
      ]),
      chart(
        'Time to answer',
        'From the arrival of a request until its response was written, by rate class. 99 of 100 take less.',
        's',
        [
          'histogram_quantile(0.99, sum by (class, le) (rate(miner_http_request_duration_seconds_bucket[5m])))',
          '{{class}}',
        ],
      ),
      chart(
        'Delay of readings',
        'From the receipt at the gateway until the first response with the reading, which waits for a request. Half, and 95 of 100, take less.',
        's',
        ['histogram_quantile(0.5, sum by (le) (rate(miner_reading_delay_seconds_bucket[5m])))', 'half'],
        ['histogram_quantile(0.95, sum by (le) (rate(miner_reading_delay_seconds_bucket[5m])))', '95 of 100'],
      ),
      chart(
        'Requests that wait for ClickHouse',
        'Beyond 64, further requests get 503 database_busy.',
        'short',
        ['miner_http_reads_in_flight', '{{instance}}'],
      ),
      chart('Event loop', 'Time it is blocked. 99 of 100 turns take less.', 's', [
        'nodejs_eventloop_lag_p99_seconds{job=~"miner.*"}',
        '{{instance}}',
      ]),
      chart(
        'Prepared responses',
        'How often bytes were prepared again. One response serves all requests until its view changes.',
        'cps',
        ['sum by (instance) (rate(miner_http_prepared_responses_total[5m]))', '{{instance}}'],
      ),
    ],
  ],
  [
    'What is rejected?',
    [
      chart('Messages', 'By stream and the first broken rule, per hour.', 'short', [
        'max by (stream, reason) (increase(miner_messages_rejected_total[1h])) > 0',
        '{{stream}} {{reason}}',
      ]),
      chart('Requests', 'By route and status, except 200 and 304.', 'reqps', [
        'sum by (route, status) (rate(miner_http_requests_total{status!~"200|304"}[5m])) > 0',
        '{{status}} {{route}}',
      ]),
    ],
  ],
  [
    'What does it cost?',
    [
      chart('CPU', 'Cores, by process.', 'short', [
        'rate(process_cpu_seconds_total{job=~"miner.*"}[5m])',
        '{{instance}}',
      ]),
      chart(
        'Memory',
        'Resident memory, the JavaScript heap in it, and the limit of the process.',
        'bytes',
        ['process_resident_memory_bytes{job=~"miner.*"}', '{{instance}}'],
        ['nodejs_heap_size_used_bytes{job=~"miner.*"}', '{{instance}} heap'],
        ['miner_memory_limit_bytes', '{{instance}} limit'],
      ),
      chart(
        'Store and disk',
        'Bytes of the streams in the store of NATS with their limit, and free bytes of ClickHouse’s disks.',
        'bytes',
        ['max by (kind) (miner_nats_store_bytes)', 'NATS {{kind}}'],
        ['max by (disk, kind) (miner_database_disk_bytes)', 'disk {{disk}} {{kind}}'],
      ),
      chart('Rows written', 'By table.', 'cps', [
        'sum by (table) (rate(miner_rows_written_total[5m]))',
        '{{table}}',
      ]),
      chart('Snapshots', 'Bytes read to restore the newest one, by stream.', 'bytes', [
        'miner_snapshot_size_bytes',
        '{{stream}}',
      ]),
      chart(
        'Clients of the event stream',
        'Open connections, and connections closed because the client did not read, per hour.',
        'short',
        ['miner_event_stream_clients', '{{instance}}'],
        ['increase(miner_event_stream_slow_clients_total[1h])', '{{instance}}, ended'],
      ),
    ],
  ],
];

export function createServiceDashboard(): Dashboard {
  const dashboard = new DashboardBuilder('Mining Activity Read Service')
    .uid('miner-service')
    .description('Generated by `npm run dashboard` from deploy/grafana/serviceDashboard.ts: change it there.')
    .tags(['miner'])
    .refresh('30s')
    .time({ from: 'now-6h', to: 'now' })
    .timezone('utc')
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'));
  for (const [question, answers] of questions) {
    dashboard.withRow(new RowBuilder(question));
    for (const panel of answers) dashboard.withPanel(panel);
  }
  return dashboard.build();
}
