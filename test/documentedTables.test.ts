import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { ownerPageDefault } from '../actors/chain/rows/activityRows.ts';
import { spanBytesMax } from '../actors/chain/spans/chainSpan.ts';
import { installationsMax } from '../actors/folds/places.ts';
import { aheadMsMax } from '../actors/messages/futureTimes.ts';
import { settlementBytesMax } from '../actors/settlement/decodeSettlement.ts';
import { closureRoundsMax } from '../actors/settlement/oracleMessage.ts';
import { oracleStaleSeconds } from '../actors/settlement/oracleState.ts';
import { reporterStaleMs } from '../actors/settlement/queueState.ts';
import { activeRoundsMax } from '../actors/settlement/reporterMessage.ts';
import { instancesMax, moduleBytesMax } from '../actors/settlement/settlementActors.ts';
import { readingBytesMax } from '../actors/wheel/decodeCounter.ts';
import { coveringGapSeconds } from '../actors/wheel/roundFold.ts';
import { stalenessSeconds } from '../actors/wheel/telemetryView.ts';
import { stopMs } from '../deploy/commands/runService.ts';
import { variables } from '../deploy/configuration/configuration.ts';
import { pageMax } from '../http/responses/scalars.ts';
import { createMessageSchema, messageSchemaNames } from '../http/routes/documentation/messageSchemas.ts';
import { pageDefault } from '../http/routes/parameters.ts';
import { rateClasses, siteFactor } from '../http/routes/rateClasses.ts';
import { defaultReadTimeoutMs, turnWaitMaxMs, waitingMax } from '../http/server/answers/pendingReads.ts';
import {
  clientsMax,
  heartbeatMs,
  readMs,
  stateWaitMaxMs,
  streamsOfClientMax,
  streamsOfSiteMax,
} from '../http/server/events/eventStream.ts';
import { saveGraceMs } from '../machines/serviceMachine.ts';
import { openIncidentsMax } from '../machines/settlementEvents.ts';
import { readBytesMax, readSecondsMax } from '../storage/clickhouse/readLimits.ts';
import { readingsRetained } from '../storage/reading/recentReadings.ts';
import { snapshotsRetainedMax } from '../storage/snapshots/snapshotRetention.ts';
import { envelopeBytesMax } from '../streams/indexer/buildSpans.ts';
import {
  counterMessageBytesMax,
  pipelineMessageBytesMax,
  rejectedBytesMax,
} from '../streams/jetstream/settings/streamTable.ts';
import { originalBytesMax } from '../streams/pipeline/rejectionLog.ts';
import { underWayBytesMax } from '../streams/pipeline/streamPipeline.ts';
import { writeCsv } from './support/csv.ts';

type Row = readonly [limit: string, value: string, beyond: string];

const kib = 1024;
const mib = kib * kib;

const count = (value: number) => value.toLocaleString('en-US');
const bytes = (value: number) =>
  value >= mib ? `${count(Math.round(value / mib))} MiB` : `${count(Math.round(value / kib))} KiB`;
const seconds = (valueMs: number) => `${count(valueMs / 1_000)} s`;

const requests: readonly Row[] = [
  ...Object.entries(rateClasses).map(
    ([name, { perSecond, burst }]): Row => [
      `Requests of a client, class \`${name}\``,
      `${perSecond} per second, burst ${burst}`,
      '429 `rate_limited`',
    ],
  ),
  ['Requests of a site (an IPv6 /48)', `${siteFactor} times as many`, '429 `rate_limited`'],
  [
    'Expensive requests that wait',
    `${count(waitingMax)}, and ${seconds(turnWaitMaxMs)} for their turn`,
    '503 `database_busy` for the client with the most of them',
  ],
  ['Duration of a read from ClickHouse', seconds(defaultReadTimeoutMs), '504 `request_timeout`'],
  ['Page of observations, default and largest', count(pageMax), 'clamped'],
  [`Page of an owner, default (largest: ${pageMax})`, count(ownerPageDefault), '400 `invalid_query`'],
  ['Page of the event feed, default (largest: 100)', count(pageDefault), '400 `invalid_query`'],
  ['Clients of the event stream', count(clientsMax), '429 `rate_limited`'],
  ['Event streams of a client', count(streamsOfClientMax), '429 `rate_limited`'],
  ['Event streams of a site', count(streamsOfSiteMax), '429 `rate_limited`'],
  ['Time in which a client of the event stream reads what it was sent', seconds(readMs), 'its stream ends'],
  ['Silence on an event stream', seconds(heartbeatMs), 'a comment keeps the connection open'],
  [
    'Time from a start without state, in which event streams wait for it',
    seconds(stateWaitMaxMs),
    'they end, and further ones are 503 `database_unavailable`',
  ],
];

const messages: readonly Row[] = [
  ['Counter reading', bytes(readingBytesMax), 'rejected as `malformed`'],
  ['Message of `MINER_PIPELINE`', bytes(settlementBytesMax), 'rejected as `malformed`'],
  ['Message on `MINER_COUNTER`, with headers', bytes(counterMessageBytesMax), 'refused by NATS'],
  ['Message on `MINER_PIPELINE`, with headers', bytes(pipelineMessageBytesMax), 'refused by NATS'],
  ['Size of `MINER_REJECTED`', bytes(rejectedBytesMax), 'the oldest rejections are removed'],
  [
    'Span of the chain',
    `${bytes(spanBytesMax)}, or a single log of any size that NATS takes`,
    'several spans, or parts of a block',
  ],
  [
    'Log of a contract',
    `half of \`max_payload\` of NATS, less ${bytes(envelopeBytesMax)}: ${bytes((2 ** 20 - envelopeBytesMax) / 2)} by default`,
    'truncated, and the metadata of its token is unavailable',
  ],
  [
    'Time that a message names, after it was received or stored',
    seconds(aheadMsMax),
    'rejected as `future_observation`',
  ],
  ['Time between two readings', `${coveringGapSeconds} s`, 'not covered'],
  ['Age of a measurement', `${stalenessSeconds} s`, '`stale`'],
  ['Age of the latest acceptance of the oracle', `${count(oracleStaleSeconds)} s`, '`stale`'],
  ['Age of the last completed run of the reporter', seconds(reporterStaleMs), 'the queue is `stale`'],
  ['Rounds of one closure', count(closureRoundsMax), 'rejected as `malformed`'],
  ['Active rounds of one submission', count(activeRoundsMax), 'rejected as `malformed`'],
  ['Module instances of one installation', count(instancesMax), 'rejected as `too_many_instances`'],
  [
    'Module snapshots of one installation, without `data`',
    bytes(moduleBytesMax),
    'rejected as `modules_too_large`',
  ],
  ['Open incidents', count(openIncidentsMax), 'rejected as `not_allowed`'],
  [
    'Installations of one stream, without the public one',
    `${count(installationsMax)} (\`MINER_INSTALLATIONS_MAX\`), each 3 KB with readings, 7 KB with other messages`,
    'a new one replaces one that was silent for 30 days, or is `too_many_installations`',
  ],
  [
    'New installations of one stream on a UTC day',
    'half of the free places',
    'rejected as `too_many_installations`',
  ],
];

const streams: readonly Row[] = [
  ['Accepted readings in memory', count(readingsRetained), 'read from ClickHouse'],
  ['Messages pulled from a stream and not yet stored', bytes(underWayBytesMax), 'they wait in JetStream'],
  [
    'One read from a ClickHouse server',
    `${readSecondsMax} s, ${readBytesMax / 1e9} GB`,
    'the server ends it; its user may have lower limits',
  ],
  ['Original in a rejection', bytes(originalBytesMax), '`truncated`'],
  [
    'Snapshots of a history',
    count(snapshotsRetainedMax),
    'removed by age; of every other history the newest stays',
  ],
];

const stop: readonly Row[] = [
  ['Saving state with its rows', seconds(saveGraceMs), 'the next start folds the rest'],
  ['The whole stop', seconds(stopMs), 'the process exits'],
];

const sections: Readonly<Record<string, readonly Row[]>> = {
  requests,
  messages,
  'queues and storage': streams,
  'stopping a process': stop,
};

it('every setting is in a table, with its default and meaning (npm run tables)', async () => {
  const rows = Object.entries(variables).map(([name, { defaultValue, meaning }]) => [
    name,
    defaultValue,
    meaning,
  ]);
  const table = writeCsv([['setting', 'default', 'meaning'], ...rows]);
  await expect(table).toMatchFileSnapshot('../deploy/settings.csv');
});

it('every limit and its value are in a table (npm run tables)', async () => {
  const rows = Object.entries(sections).flatMap(([subject, limits]) =>
    limits.map((limit) => [subject, ...limit]),
  );
  const table = writeCsv([['subject', 'limit', 'value', 'beyond it'], ...rows]);
  await expect(table).toMatchFileSnapshot('../deploy/limits.csv');
});

it('the members of messages are in tables of MESSAGES.md (npm run tables)', async () => {
  const file = '../streams/MESSAGES.md';
  const page = readFileSync(resolve(import.meta.dirname, file), 'utf8');
  const written = page.replaceAll(
    /^<!-- (\w+) -->\n(?:\n?(?:\|.*\n)+)?/gm,
    (_, name: string) => `<!-- ${name} -->\n\n${writeMembers(createMessageSchema(name))}`,
  );
  const described = [...written.matchAll(/^<!-- (\w+) -->/gm)].map(([, name]) => name);
  // The service itself publishes the others.
  expect(described).toEqual(messageSchemaNames.filter((name) => !name.startsWith('Chain')));
  await expect(written).toMatchFileSnapshot(file);
});

interface JsonSchema {
  readonly type?: string;
  readonly const?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A row for each member, of a union with the types of message that have it. */
function writeMembers(schema: JsonSchema): string {
  const variants = schema.oneOf ?? schema.anyOf ?? [schema];
  const typesOf = new Map<string, string[]>();
  for (const variant of variants)
    for (const row of listMembers(variant))
      typesOf.set(row, [...(typesOf.get(row) ?? []), variant.properties?.type?.const ?? '']);
  if (variants.length === 1)
    return `| member | value | meaning |\n|---|---|---|\n${[...typesOf.keys()].map((row) => `${row}\n`).join('')}`;
  const rows = [...typesOf].map(([row, types]) => {
    const of = types.length === variants.length ? 'all' : types.map((type) => `\`${type}\``).join(', ');
    return `| ${of} ${row}\n`;
  });
  return `| \`type\` | member | value | meaning |\n|---|---|---|---|\n${rows.join('')}`;
}

function listMembers({ properties = {}, required = [] }: JsonSchema, outer = ''): string[] {
  return Object.entries(properties)
    .filter(([name]) => outer !== '' || name !== 'type')
    .flatMap(([name, member]) => {
      const path = `${outer}${name}`;
      if (member.description === undefined) throw new Error(`${path} has no description`);
      const form = `${describeForm(member)}${required.includes(name) ? '' : ', or absent'}`;
      const inner = member.items?.properties
        ? listMembers(member.items, `${path}[].`)
        : listMembers(member, `${path}.`);
      return [`| \`${path}\` | ${form} | ${member.description} |`, ...inner];
    });
}

function describeForm(schema: JsonSchema): string {
  const { anyOf, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
  if (anyOf !== undefined) return anyOf.map(describeForm).join(' or ');
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ');
  switch (schema.type) {
    case 'integer':
      return `integer, ${minimum} to ${maximum === Number.MAX_SAFE_INTEGER ? '2^53 - 1' : maximum}`;
    case 'boolean':
      return 'true or false';
    case 'array':
      return 'list';
    case 'string':
      return describeText(schema);
    default:
      return schema.type ?? 'decimal';
  }
}

function describeText({ format, pattern = '', minLength = 0, maxLength }: JsonSchema): string {
  if (format === 'uuid' || pattern.includes('{8}-')) return 'UUID';
  if (format === 'date-time') return 'time';
  if (pattern.startsWith('^(?:0|[1-9]')) return 'decimal';
  if (pattern.startsWith('^0x')) return '`0x` and 64 hexadecimal digits';
  if (pattern.includes('._:-')) return 'ID';
  if (maxLength === undefined || pattern !== '') return 'text';
  return `text of ${minLength === 0 ? 'at most' : `${minLength} to`} ${maxLength} characters`;
}
