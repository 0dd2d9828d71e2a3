import { expect, it } from 'vitest';
import { retainedStatesMax } from '../actors/chain/fold/spanFoldState.ts';
import { ownerEventsRetained, rowsOfMessage } from '../actors/chain/rows/activityRows.ts';
import { settlementsRetainedMs } from '../actors/chain/rows/settlementRows.ts';
import { proposersMax } from '../actors/chain/spans/chainReads.ts';
import { spanBytesMax } from '../actors/chain/spans/chainSpan.ts';
import { installationsMax } from '../actors/installationsMax.ts';
import { settlementBytesMax } from '../actors/settlement/decodeSettlement.ts';
import { closureRoundsMax } from '../actors/settlement/oracleMessage.ts';
import { oracleStaleSeconds } from '../actors/settlement/oracleState.ts';
import { reporterStaleMs } from '../actors/settlement/queueState.ts';
import { rememberedIdsMax, rememberedIdsMin, rememberedMs } from '../actors/settlement/rememberedIds.ts';
import { activeRoundsMax } from '../actors/settlement/reporterMessage.ts';
import { closedRoundsMax, endedSubmissionsMax } from '../actors/settlement/settlementActor.ts';
import { instancesMax } from '../actors/settlement/settlementActors.ts';
import { rememberedMarksMax } from '../actors/wheel/acceptance.ts';
import { pastDaysMax } from '../actors/wheel/dayHistory.ts';
import { futureObservationMsMax, readingBytesMax } from '../actors/wheel/decodeCounter.ts';
import { stalenessSeconds } from '../actors/wheel/freshness.ts';
import { coveringGapSeconds, recentRoundsMax } from '../actors/wheel/roundFold.ts';
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
import { approvedEpochsMax, openIncidentsMax } from '../machines/settlementEvents.ts';
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
const dayMs = 86_400_000;

const count = (value: number) => value.toLocaleString('en-US');
const bytes = (value: number) => (value >= mib ? `${value / mib} MiB` : `${value / kib} KiB`);
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
    `${siteFactor} times those of a client`,
    '429 `rate_limited` with `Retry-After`',
  ],
  [
    'Clients and sites whose rate is tracked',
    count(createRateLimiter().capacity),
    'the one seen least recently in its set is evicted, and starts with a full bucket',
  ],
  [
    'Expensive requests that wait: in all, of one client, of one site',
    [inFlightMax, waitingOfClientMax, waitingOfSiteMax].map(count).join(', '),
    '503 `database_busy`',
  ],
  ['Time of a read from ClickHouse', seconds(defaultReadTimeoutMs), '504 `request_timeout`'],
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
    'routes that read events or ClickHouse, and pages that have to be rendered, answer 503 `database_busy`; who resumes an event stream waits',
  ],
  [
    'Missed events that clients of the event stream are sent in one turn of the event loop, all together',
    count(missedBatchSize),
    'they take turns',
  ],
  [
    'Reads of missed events from ClickHouse at the same time',
    count(catchUpReadsMax),
    'further clients wait for one of them',
  ],
  [
    'Events that wait for a client that does not read',
    count(waitingEventsMax),
    'its stream ends; it resumes',
  ],
  [
    'Silence on an event stream',
    seconds(defaultHeartbeatMs),
    'a comment is sent, which keeps the connection open',
  ],
  [
    'Time of one turn of the event loop for requests that read events or ClickHouse, and for pages',
    `${expensiveMsPerTurn} ms`,
    'the next ones wait for later turns',
  ],
  [
    'Pages of the explorer in memory, before compression',
    `${count(cachedPagesMax)} or ${bytes(cachedPagesBytesMax)}`,
    'the one that was rendered first is rendered again at its next request',
  ],
  [
    'Rate-limited requests of one turn that are answered',
    count(refusalsPerTurn),
    'the connections of further ones are closed, those of trusted proxies aside',
  ],
];

const messages: readonly Row[] = [
  ['Counter reading', bytes(readingBytesMax), 'rejected as `malformed`'],
  ['Message of `MINER_PIPELINE`', bytes(settlementBytesMax), 'rejected as `malformed`'],
  ['Message on `MINER_COUNTER`, with headers', bytes(counterMessageBytesMax), 'refused by NATS'],
  ['Message on `MINER_PIPELINE`, with headers', bytes(pipelineMessageBytesMax), 'refused by NATS'],
  ['All of `MINER_REJECTED`', bytes(rejectedBytesMax), 'the oldest rejections go'],
  [
    'Span of the chain',
    `${bytes(spanBytesMax)}, or a single log of any size that NATS takes`,
    'the indexer publishes several, or parts',
  ],
  [
    'Log of a contract',
    `half of \`max_payload\` of NATS, less ${bytes(envelopeBytesMax)}: ${bytes((2 ** 20 - envelopeBytesMax) / 2)} of data at its default`,
    'only its beginning is published: metadata of a token is unavailable, and nothing else',
  ],
  ['Observation after its receipt', seconds(futureObservationMsMax), 'rejected as `future_observation`'],
  [
    'Gap between two readings that cover it',
    `${coveringGapSeconds} s`,
    'the time between them is not covered',
  ],
  ['Age of a measurement', `${stalenessSeconds} s`, '`stale`'],
  ['Age of the latest acceptance of the oracle', `${count(oracleStaleSeconds)} s`, '`stale`'],
  ['Age of the last completed run of the reporter', seconds(reporterStaleMs), 'the queue is `stale`'],
  ['Rounds of one closure', count(closureRoundsMax), 'rejected as `malformed`'],
  ['Active rounds of one submission', count(activeRoundsMax), 'rejected as `malformed`'],
  ['Module instances of one installation', count(instancesMax), 'rejected as `too_many_instances`'],
  ['Open incidents', count(openIncidentsMax), 'rejected as `not_allowed`'],
];

const memory: readonly Row[] = [
  ['Installations of one stream', count(installationsMax), 'rejected as `too_many_installations`'],
  [
    'Earlier boots and counter epochs, each, of an installation',
    count(rememberedMarksMax),
    'the oldest is forgotten',
  ],
  [
    'Observed rounds that a projection can use',
    count(recentRoundsMax),
    '`round_projection_gap` without a closure',
  ],
  ['Days before that of the newest reading, each on its own', count(pastDaysMax), 'added up'],
  ['Closed rounds', count(closedRoundsMax), 'the oldest are forgotten'],
  ['Approved counter epochs', count(approvedEpochsMax), 'the oldest is forgotten'],
  ['Ended submissions for the statistics', count(endedSubmissionsMax), 'the coverage begins later'],
  [
    'IDs of what has ended, of each kind',
    `${count(rememberedIdsMin)} at least, those of ${rememberedMs / dayMs} days, ${count(rememberedIdsMax)} at most`,
    'the oldest could begin again',
  ],
  ['Accounts that were proposers of the timelock', count(proposersMax), 'the oldest is forgotten'],
  [
    'Safe states of the chain',
    count(retainedStatesMax),
    'cursors of older ones are invalid; a deeper reorganization restores a snapshot',
  ],
  [
    'Events of owners in memory, of all together',
    `the newest ${count(ownerEventsRetained)}, and those that are not final`,
    'read from ClickHouse',
  ],
  [
    'Settlements and checkpoints in memory',
    `those of ${settlementsRetainedMs / dayMs} days, and those that are not final`,
    'in ClickHouse; their sums stay',
  ],
  ['Accepted readings in memory', count(readingsRetained), 'read from ClickHouse'],
];

const streams: readonly Row[] = [
  [
    'Messages of one batch of a fold',
    `${count(batchMessagesMax)} or ${bytes(batchBytesMax)}`,
    'the next batch',
  ],
  [
    'Messages that are requested in advance',
    `${count(pullBounds.messages)} or ${bytes(pullBounds.bytes)}`,
    'they wait in JetStream',
  ],
  [
    'Messages between a stream and what is stored of them',
    bytes(underWayBytesMax),
    'no more are pulled until some are stored',
  ],
  [
    'Rows of each kind of the history of the chain that are made with one span',
    `${count(rowsOfMessage)}, and the rest of an owner's block`,
    'the next span',
  ],
  [
    'Read of a ClickHouse server',
    `${readSecondsMax} s, ${bytes(readBytesMax)}`,
    'the server ends it; a narrower limit of its user counts',
  ],
  ['Bytes of the original in a rejection', bytes(originalBytesMax), '`truncated`'],
  [
    'Snapshots of one stream, with increments',
    count(snapshotsRetainedMax),
    'those between are removed, by age',
  ],
  ['Increments of one snapshot', count(incrementsMax), 'a whole state is saved'],
];

const stop: readonly Row[] = [
  [
    'State that is saved, with the rows that it covers',
    seconds(saveGraceMs),
    'the next start folds what follows the newest snapshot',
  ],
  [
    'Connections that are closed, each: the indexer, the lease, NATS',
    seconds(closeGraceMs),
    'it is not waited for',
  ],
  ['Statement that ClickHouse executes', seconds(databaseCloseGraceMs), 'it is not waited for'],
  ['All of it', seconds(stopMs), 'the process exits, and the log names what is left'],
];

function table(title: string, rows: readonly Row[]): string {
  const lines = rows.map(([limit, value, beyond]) => `| ${limit} | ${value} | ${beyond} |`);
  return [`## ${title}`, '', '| limit | value | beyond it |', '|---|---|---|', ...lines, ''].join('\n');
}

it('limits are documented as they are (npm run tables)', async () => {
  const page = [
    '# Limits',
    '',
    'Generated from the constants of the code by `npm run tables`. What an operator sets is in the README, Configuration.',
    '',
    table('Requests', requests),
    table('Messages', messages),
    table('What is remembered', memory),
    table('Queues and storage', streams),
    table('Stopping a process', stop),
  ].join('\n');
  await expect(page).toMatchFileSnapshot('../deploy/LIMITS.md');
});
