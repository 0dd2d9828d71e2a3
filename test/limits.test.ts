import { expect, it } from 'vitest';
import { rowsOfMessage } from '../actors/chain/rows/activityRows.ts';
import { spanBytesMax } from '../actors/chain/spans/chainSpan.ts';
import { installationsMax } from '../actors/installationsMax.ts';
import { settlementBytesMax } from '../actors/settlement/decodeSettlement.ts';
import { closureRoundsMax } from '../actors/settlement/oracleMessage.ts';
import { oracleStaleSeconds } from '../actors/settlement/oracleState.ts';
import { reporterStaleMs } from '../actors/settlement/queueState.ts';
import { activeRoundsMax } from '../actors/settlement/reporterMessage.ts';
import { instancesMax } from '../actors/settlement/settlementActors.ts';
import { futureObservationMsMax, readingBytesMax } from '../actors/wheel/decodeCounter.ts';
import { stalenessSeconds } from '../actors/wheel/freshness.ts';
import { coveringGapSeconds } from '../actors/wheel/roundFold.ts';
import { stopMs } from '../deploy/commands/runService.ts';
import { feedPageDefault } from '../http/routes/eventRoutes.ts';
import { ownerPageDefault } from '../http/routes/ownerPage.ts';
import { rateClasses, siteFactor } from '../http/routes/rateClasses.ts';
import { observationsLimitMax } from '../http/routes/routes.ts';
import {
  defaultReadTimeoutMs,
  inFlightMax,
  waitingOfClientMax,
  waitingOfSiteMax,
} from '../http/server/answers/pendingReads.ts';
import { compressedAboveBytes } from '../http/server/answers/preparedResponse.ts';
import { catchUpReadsMax } from '../http/server/events/catchUp.ts';
import {
  clientsMax,
  defaultHeartbeatMs,
  streamsOfClientMax,
  streamsOfSiteMax,
} from '../http/server/events/eventStream.ts';
import { missedBatchSize } from '../http/server/events/streamDelivery.ts';
import { waitingMax as waitingEventsMax } from '../http/server/events/streamOutput.ts';
import { eventLoopDelayMaxMs } from '../http/server/limits/loadGuard.ts';
import { createRateLimiter } from '../http/server/limits/rateLimiter.ts';
import { refusalsPerTurn } from '../http/server/limits/refusalCount.ts';
import { expensiveMsPerTurn } from '../http/server/limits/turnBudget.ts';
import { cachedPagesBytesMax, cachedPagesMax } from '../http/server/pages/pageCache.ts';
import { closeGraceMs, databaseCloseGraceMs, saveGraceMs } from '../machines/serviceSetup.ts';
import { openIncidentsMax } from '../machines/settlementEvents.ts';
import { readBytesMax, readSecondsMax } from '../storage/readLimits.ts';
import { readingsRetained } from '../storage/recentReadings.ts';
import { snapshotsRetainedMax } from '../storage/snapshotRetention.ts';
import { incrementsMax } from '../storage/snapshots.ts';
import { envelopeBytesMax } from '../streams/indexer/buildSpans.ts';
import {
  counterMessageBytesMax,
  pipelineMessageBytesMax,
  rejectedBytesMax,
} from '../streams/jetstream/ensureStreams.ts';
import { batchBytesMax, batchMessagesMax } from '../streams/jetstream/source/messageBatch.ts';
import { pullBounds } from '../streams/jetstream/source/messageSource.ts';
import { originalBytesMax } from '../streams/pipeline/rejectionLog.ts';
import { underWayBytesMax } from '../streams/pipeline/streamPipeline.ts';

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
      `Requests of one client, class \`${name}\``,
      `${perSecond} per second, burst ${burst}`,
      '429 `rate_limited` with `Retry-After`',
    ],
  ),
  [
    'Requests of one site (an IPv6 /48)',
    `${siteFactor} times the rate of a client`,
    '429 `rate_limited` with `Retry-After`',
  ],
  [
    'Clients and sites whose rate is tracked',
    count(createRateLimiter().capacity),
    'the least recently seen client of its set is evicted; it starts again with a full bucket',
  ],
  [
    'Expensive requests that wait: in total, per client, per site',
    [inFlightMax, waitingOfClientMax, waitingOfSiteMax].map(count).join(', '),
    '503 `database_busy`',
  ],
  ['Duration of a read from ClickHouse', seconds(defaultReadTimeoutMs), '504 `request_timeout`'],
  ['Page of observations, default and largest', count(observationsLimitMax), 'clamped'],
  ['Page of an owner, default (largest: 100)', count(ownerPageDefault), '400 `invalid_query`'],
  ['Page of the event feed, default (largest: 100)', count(feedPageDefault), '400 `invalid_query`'],
  ['Body that is sent uncompressed', bytes(compressedAboveBytes), 'compressed as the client prefers'],
  ['Clients of the event stream', count(clientsMax), '429 `rate_limited`'],
  ['Event streams of one client', count(streamsOfClientMax), '429 `rate_limited`'],
  ['Event streams of one site (an IPv6 /48)', count(streamsOfSiteMax), '429 `rate_limited`'],
  [
    'Delay of the event loop, on average',
    `${eventLoopDelayMaxMs} ms`,
    'routes that read events or ClickHouse, and pages that must be rendered, answer 503 `database_busy`; clients that resume an event stream wait',
  ],
  [
    'Missed events sent to all clients of the event stream in one turn of the event loop',
    count(missedBatchSize),
    'clients take turns',
  ],
  ['Concurrent reads of missed events from ClickHouse', count(catchUpReadsMax), 'further clients wait'],
  [
    'Events waiting for a client that does not read',
    count(waitingEventsMax),
    'its stream ends, and it may resume',
  ],
  ['Silence on an event stream', seconds(defaultHeartbeatMs), 'a comment keeps the connection open'],
  [
    'Time per turn of the event loop for pages, and for requests that read events or ClickHouse',
    `${expensiveMsPerTurn} ms`,
    'further requests wait for later turns',
  ],
  [
    'Pages of the explorer in memory, before compression',
    `${count(cachedPagesMax)} or ${bytes(cachedPagesBytesMax)}`,
    'the oldest page is dropped, and rendered again at its next request',
  ],
  [
    'Rate-limited requests answered in one turn of the event loop',
    count(refusalsPerTurn),
    'further connections are closed, except connections of trusted proxies',
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
    'the indexer publishes several spans, or parts of a block',
  ],
  [
    'Log of a contract',
    `half of \`max_payload\` of NATS, less ${bytes(envelopeBytesMax)}: ${bytes((2 ** 20 - envelopeBytesMax) / 2)} of data at its default`,
    'only its beginning is published, and the metadata of its token is unavailable',
  ],
  ['Observation later than its receipt', seconds(futureObservationMsMax), 'rejected as `future_observation`'],
  ['Time between two readings', `${coveringGapSeconds} s`, 'the time between them is not covered'],
  ['Age of a measurement', `${stalenessSeconds} s`, '`stale`'],
  ['Age of the latest acceptance of the oracle', `${count(oracleStaleSeconds)} s`, '`stale`'],
  ['Age of the last completed run of the reporter', seconds(reporterStaleMs), 'the queue is `stale`'],
  ['Rounds of one closure', count(closureRoundsMax), 'rejected as `malformed`'],
  ['Active rounds of one submission', count(activeRoundsMax), 'rejected as `malformed`'],
  ['Module instances of one installation', count(instancesMax), 'rejected as `too_many_instances`'],
  ['Open incidents', count(openIncidentsMax), 'rejected as `not_allowed`'],
  ['Installations of one stream', count(installationsMax), 'rejected as `too_many_installations`'],
];

const streams: readonly Row[] = [
  ['Accepted readings in memory', count(readingsRetained), 'read from ClickHouse'],
  [
    'Messages of one batch of a fold',
    `${count(batchMessagesMax)} or ${bytes(batchBytesMax)}`,
    'the next batch',
  ],
  [
    'Messages requested in advance',
    `${count(pullBounds.messages)} or ${bytes(pullBounds.bytes)}`,
    'they wait in JetStream',
  ],
  [
    'Messages pulled from a stream and not yet stored',
    bytes(underWayBytesMax),
    'no more are pulled until some are stored',
  ],
  [
    'Rows of each kind of chain history made with one span',
    `${count(rowsOfMessage)}, and the rest of an owner's block`,
    'made with the next span',
  ],
  [
    'One read from a ClickHouse server',
    `${readSecondsMax} s, ${readBytesMax / 1e9} GB`,
    'the server ends it; a lower limit of its user applies',
  ],
  ['Bytes of the original in a rejection', bytes(originalBytesMax), '`truncated`'],
  ['Snapshots of one stream, with increments', count(snapshotsRetainedMax), 'removed by age'],
  ['Increments after a whole state', count(incrementsMax), 'the next snapshot is a whole state'],
];

const stop: readonly Row[] = [
  [
    'Saving state with its rows',
    seconds(saveGraceMs),
    'the next start folds what follows the newest snapshot',
  ],
  ['Closing the indexer, the lease and NATS, each', seconds(closeGraceMs), 'the stop continues'],
  ['Last statement of ClickHouse', seconds(databaseCloseGraceMs), 'the stop continues'],
  ['The whole stop', seconds(stopMs), 'the process exits, and the log names what is left'],
];

function table(title: string, rows: readonly Row[]): string {
  const lines = rows.map(([limit, value, beyond]) => `| ${limit} | ${value} | ${beyond} |`);
  return [`## ${title}`, '', '| limit | value | beyond it |', '|---|---|---|', ...lines, ''].join('\n');
}

it('LIMITS.md has every limit with its value (npm run tables)', async () => {
  const page = [
    '# Limits',
    '',
    'Generated from the constants of the code by `npm run tables`. [STATE.md](../actors/STATE.md) has what the folds remember.',
    '',
    table('Requests', requests),
    table('Messages', messages),
    table('Queues and storage', streams),
    table('Stopping a process', stop),
  ].join('\n');
  await expect(page).toMatchFileSnapshot('../deploy/LIMITS.md');
});
