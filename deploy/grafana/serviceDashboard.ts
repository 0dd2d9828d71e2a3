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
/** Width of a panel, of 24. */
const [narrow, half] = [4, 12];
const [low, high] = [4, 8];

/** An expression, and what its series are called. */
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

/** Well below the first value; to be acted on from the second one on. */
function wellBelow(look: number, act: number): Steps {
  return [
    { value: null, color: 'green' },
    { value: look, color: 'yellow' },
    { value: act, color: 'red' },
  ];
}

/** None is a failure, one has nobody beside it. */
const wellFromTwo: Steps = [
  { value: null, color: 'red' },
  { value: 1, color: 'yellow' },
  { value: 2, color: 'green' },
];

function number(title: string, about: string, steps: Steps, expression: string) {
  return new StatBuilder()
    .title(title)
    .description(about)
    .unit('short')
    .span(narrow)
    .height(low)
    .datasource(source)
    .noValue('nobody says')
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

/** What an operator asks, in the order of the questions. */
export function createServiceDashboard(): Dashboard {
  return new DashboardBuilder('Mining Activity Read Service')
    .uid('miner-service')
    .description('Made by `npm run dashboard` of deploy/grafana/serviceDashboard.ts: change it there.')
    .tags(['miner'])
    .refresh('30s')
    .time({ from: 'now-6h', to: 'now' })
    .timezone('utc')
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('datasource').label('Prometheus').type('prometheus'))
    .withRow(new RowBuilder('Is what it shows fresh and right?'))
    .withPanel(
      number(
        'Processes that serve',
        'None: callers are told nothing.',
        wellFromTwo,
        'count(miner_http_server_info) or vector(0)',
      ),
    )
    .withPanel(
      number(
        'Streams that are not followed',
        'Of all processes: their state stands still.',
        wellBelow(1, 1),
        'count(sum by (instance, stream) (miner_stream_state{state=~"following|catchingUp"}) == 0) or vector(0)',
      ),
    )
    .withPanel(
      number(
        'Messages not folded',
        'The process and stream that is farthest behind.',
        wellBelow(1_000, 10_000),
        'max(miner_stream_lag_messages)',
      ),
    )
    .withPanel(
      number(
        'Blocks behind the node',
        'Of the indexer that is nearest to its node.',
        wellBelow(10, 50),
        'min(miner_indexer_block{block="tip"} - ignoring (block) miner_indexer_block{block="published"})',
      ),
    )
    .withPanel(
      number(
        'Divergences, a day',
        'Times that a stream was another one than the folded one.',
        wellBelow(1, 1),
        'sum(increase(miner_stream_divergences_total[1d]))',
      ),
    )
    .withPanel(
      number(
        'Messages missed, a day',
        'They left a stream before they were folded.',
        wellBelow(1, 1),
        'max(increase(miner_stream_missed_messages_total[1d]))',
      ),
    )
    .withPanel(
      chart(
        'Messages folded',
        'By stream and outcome, of the process that folds most of them. Readings that stop are the gateway’s; what is rejected is in MINER_REJECTED.',
        'cps',
        ['max by (stream, outcome) (rate(miner_messages_total[5m]))', '{{stream}} {{outcome}}'],
      ),
    )
    .withPanel(
      chart(
        'Chain',
        'Blocks: the node’s newest, the last one published, the last one folded, the newest safe one.',
        'none',
        ['max(miner_indexer_block{block="tip"})', 'tip of the node'],
        ['max(miner_indexer_block{block="published"})', 'published'],
        ['min by (block) (miner_chain_block)', '{{block}}'],
      ),
    )
    .withPanel(
      chart('Condition of chain views', 'Anything but `available` is what their routes say.', 'short', [
        'count by (views, condition) (miner_chain_condition == 1)',
        '{{views}}: {{condition}}',
      ]),
    )
    .withPanel(
      chart(
        'Reorganizations and refusals',
        'Safe blocks that were replaced, rewinds, answers that were refused by their own schema.',
        'short',
        [
          'max by (reached) (increase(miner_chain_reorganizations_total[1h]))',
          'reorganizations, {{reached}} blocks',
        ],
        ['max(increase(miner_chain_rewinds_total[1h]))', 'rewinds'],
        ['sum by (route) (increase(miner_http_failures_total[1h]))', 'refused: {{route}}'],
      ),
    )
    .withRow(new RowBuilder('What is waiting?'))
    .withPanel(
      chart('Messages not folded', 'By process and stream.', 'short', [
        'miner_stream_lag_messages',
        '{{instance}} {{stream}}',
      ]),
    )
    .withPanel(
      chart('Rows that wait for ClickHouse', 'At 32 MiB the stream is held back.', 'bytes', [
        'miner_rows_buffered_bytes',
        '{{stream}}',
      ]),
    )
    .withPanel(
      chart(
        'ClickHouse takes no rows',
        'For how long, by stream; and processes that do not reach it.',
        's',
        ['miner_row_writer_failing_seconds', '{{stream}}'],
        ['count(miner_database_reachable == 0) or vector(0)', 'processes without it'],
      ),
    )
    .withPanel(
      chart(
        'Stored and saved behind what is folded',
        'In messages. A start folds again what no snapshot holds.',
        'short',
        ['miner_stream_position - on (instance, stream) miner_rows_flushed_position', 'rows of {{stream}}'],
        [
          'miner_stream_position - on (instance, stream) miner_snapshot_position and on (instance, stream) miner_rows_flushed_position',
          'snapshot of {{stream}}',
        ],
        ['miner_rejections_waiting', 'rejections of {{stream}}'],
      ),
    )
    .withPanel(
      chart(
        'States entered',
        'By part of a process, in a quarter of an hour: a part that often enters a state has trouble that comes and goes.',
        'short',
        ['topk(10, increase(miner_actor_transitions_total[15m]) > 0)', '{{instance}} {{actor}}: {{state}}'],
      ),
    )
    .withRow(new RowBuilder('What is slow?'))
    .withPanel(
      chart('Requests', 'By status, of all processes.', 'reqps', [
        'sum by (status) (rate(miner_http_requests_total[5m]))',
        '{{status}}',
      ]),
    )
    .withPanel(
      chart('Requests that wait for ClickHouse', 'At 64 further ones are told 503 database_busy.', 'short', [
        'miner_http_reads_in_flight',
        '{{instance}}',
      ]),
    )
    .withPanel(
      chart('Event loop', 'How long it is held up: 99 of 100 turns for less than this.', 's', [
        'nodejs_eventloop_lag_p99_seconds{job=~".*miner.*"}',
        '{{instance}}',
      ]),
    )
    .withPanel(
      chart(
        'Prepared responses',
        'How often bytes were made anew: one serves all until its view changes.',
        'cps',
        ['sum by (instance) (rate(miner_http_prepared_responses_total[5m]))', '{{instance}}'],
      ),
    )
    .withRow(new RowBuilder('What is rejected?'))
    .withPanel(
      chart('Messages', 'By stream and the first rule that they broke, an hour.', 'short', [
        'max by (stream, reason) (increase(miner_messages_rejected_total[1h])) > 0',
        '{{stream}} {{reason}}',
      ]),
    )
    .withPanel(
      chart('Requests', 'That were not answered with 200 or 304, by route.', 'reqps', [
        'sum by (route, status) (rate(miner_http_requests_total{status!~"200|304"}[5m])) > 0',
        '{{status}} {{route}}',
      ]),
    )
    .withRow(new RowBuilder('What does it cost?'))
    .withPanel(
      chart('CPU', 'Cores, by process.', 'short', [
        'rate(process_cpu_seconds_total{job=~".*miner.*"}[5m])',
        '{{instance}}',
      ]),
    )
    .withPanel(
      chart(
        'Memory',
        'Resident, and of it the heap of JavaScript.',
        'bytes',
        ['process_resident_memory_bytes{job=~".*miner.*"}', '{{instance}}'],
        ['nodejs_heap_size_used_bytes{job=~".*miner.*"}', '{{instance}} heap'],
      ),
    )
    .withPanel(
      chart('Rows written', 'By table.', 'cps', [
        'sum by (table) (rate(miner_rows_written_total[5m]))',
        '{{table}}',
      ]),
    )
    .withPanel(
      chart(
        'Clients of the event stream',
        'Connections that are held open; those that were ended for not reading, an hour.',
        'short',
        ['miner_event_stream_clients', '{{instance}}'],
        ['increase(miner_event_stream_slow_clients_total[1h])', '{{instance}}, ended'],
      ),
    )
    .build();
}
