import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { ChainActors } from '../../actors/chain/chainActors.ts';
import type { CounterActors } from '../../actors/wheel/counterActors.ts';
import type { RecentReadings } from '../../storage/reading/recentReadings.ts';
import type { StreamFollower } from '../../streams/follower/streamFollower.ts';
import { type IndexerStatus, notStarted } from '../../streams/indexer/indexer.ts';
import { registerAgeMetrics } from '../../streams/metrics/ageMetrics.ts';
import { registerChainMetrics, registerIndexerMetrics } from '../../streams/metrics/chainMetrics.ts';
import { registerFollowerMetrics } from '../../streams/metrics/followerMetrics.ts';
import { registerStoreMetrics } from '../../streams/metrics/storeMetrics.ts';
import { registerWriterMetrics } from '../../streams/metrics/writerMetrics.ts';
import { createMessageCounts } from '../../streams/pipeline/messageCounts.ts';
import { receiveBatch } from '../../streams/pipeline/receiveBatch.ts';
import type { RejectionLog } from '../../streams/pipeline/rejectionLog.ts';
import type { RowWriter } from '../../streams/pipeline/rowWriter.ts';
import { manualClock } from '../support/manualClock.ts';
import { streamInfo } from '../support/streams/streamInfo.ts';

/** Values by metric and labels, without counts of zero and states that are not the current one. */
async function readMetrics(registry: Registry) {
  const samples = (await registry.metrics())
    .split('\n')
    .filter((line) => /^miner_/.test(line) && !/_bucket|(?:state\{|_total).* 0$/.test(line))
    .map((line) => line.replace(/^miner_/, '').split(' '));
  return Object.fromEntries(samples.map(([name, value]) => [name, Number(value)]));
}

const clock = manualClock();
const of = '{stream="MINER_COUNTER"}';

it('metrics of a follower are its values, and absent while they are unknown', async () => {
  const registry = new Registry();
  const known = {
    ...{ position: 3, lastSequence: 7, missedMessages: 8, interruptions: 9, divergences: 10 },
    ...{ verifiedAtMs: clock.bootMs() - 2_000, freshAsOfMs: clock.bootMs() - 5_000 },
    ...{ snapshotPosition: 11, snapshotBytes: 13, snapshotFailures: 14, state: 'following' },
  };
  let status: object = known;
  const follower = { status: () => status } as StreamFollower;
  registerFollowerMetrics(registry, () => [['MINER_COUNTER', follower]], clock);
  const counts = {
    [`stream_missed_messages_total${of}`]: 8,
    [`stream_interruptions_total${of}`]: 9,
    [`stream_divergences_total${of}`]: 10,
    [`snapshot_failures${of}`]: 14,
    'stream_state{stream="MINER_COUNTER",state="following"}': 1,
  };
  expect(await readMetrics(registry)).toEqual({
    ...counts,
    [`stream_position${of}`]: 3,
    [`stream_last_sequence${of}`]: 7,
    [`stream_lag_messages${of}`]: 4,
    [`stream_verification_age_seconds${of}`]: 2,
    [`stream_freshness_age_seconds${of}`]: 5,
    [`snapshot_position${of}`]: 11,
    [`snapshot_size_bytes${of}`]: 13,
  });
  const unknown = { lastSequence: null, verifiedAtMs: null, freshAsOfMs: null };
  status = { ...known, ...unknown, snapshotPosition: null, snapshotBytes: null };
  expect(await readMetrics(registry)).toEqual({ ...counts, [`stream_position${of}`]: 3 });
  // It has folded more than the stream held at the last inspection.
  status = { ...known, position: 9 };
  expect(await readMetrics(registry)).toHaveProperty([`stream_lag_messages${of}`], 0);
});

it('metrics of writing are its values', async () => {
  const registry = new Registry();
  const status = {
    bufferedBytes: 2,
    writtenRows: new Map([['readings', 3]]),
    failingForMs: 6_000 as number | null,
  };
  const writer = { status: () => status, storedThrough: () => 7 } as unknown as RowWriter;
  registerWriterMetrics(registry, {
    writers: new Map([['MINER_COUNTER', writer]]),
    rejections: new Map([['MINER_PIPELINE', { waiting: 8 } as RejectionLog]]),
    recent: { size: 10 } as RecentReadings,
  });
  expect(await readMetrics(registry)).toEqual({
    'rows_written_total{table="readings"}': 3,
    [`rows_buffered_bytes${of}`]: 2,
    [`rows_flushed_position${of}`]: 7,
    [`row_writer_failing_seconds${of}`]: 6,
    'rejections_waiting{stream="MINER_PIPELINE"}': 8,
    recent_readings: 10,
  });
  status.failingForMs = null;
  expect(await readMetrics(registry)).toHaveProperty([`row_writer_failing_seconds${of}`], 0);
});

it('metrics of chain and indexer are their values, or absent', async () => {
  const registry = new Registry();
  let newest: unknown = null;
  const world: object = { state: { head: null }, newest: () => newest, fault: null, refusedSpan: null };
  const actors = world as ChainActors;
  let status: IndexerStatus = notStarted;
  const counts = registerChainMetrics(registry, actors);
  registerIndexerMetrics(registry, { status: () => status });
  const counters = {
    telemetry: (id: string) => ({
      reading: id === 'one' ? { receivedAtMs: clock.nowMs() - 3_000, observedAtMs: 0 } : null,
    }),
  } as unknown as CounterActors;
  registerAgeMetrics(registry, { counters, chain: actors, installationId: 'one', clock });
  const sound = { newest_reading_age_seconds: 3, chain_projection_failed: 0, chain_spans_refused: 0 };
  expect(await readMetrics(registry)).toEqual({ ...sound, 'indexer_state{state="connecting"}': 1 });
  newest = { block: { number: 4n, timestampMs: clock.nowMs() + 1 } };
  Object.assign(world, {
    state: { head: { number: 5n } },
    fault: { block: { number: 6n } },
    refusedSpan: {},
  });
  const events = { reorganizations: 3, providerFailures: 4, lostRaces: 5 };
  status = { ...notStarted, ...events, state: 'following', head: 1n, tip: 2n };
  for (const safeDepth of [0, 1, 8]) counts.reorganized(safeDepth);
  counts.rewound();
  const shown = {
    newest_reading_age_seconds: 3,
    safe_block_age_seconds: 0,
    'chain_block{block="safe"}': 4,
    'chain_reorganizations_total{reached="unsafe"}': 1,
    'chain_reorganizations_total{reached="safe"}': 2,
    chain_rewinds_total: 1,
    'indexer_state{state="following"}': 1,
    'indexer_block{block="published"}': 1,
    'indexer_events_total{event="reorganization"}': 3,
    'indexer_events_total{event="provider_failure"}': 4,
    'indexer_events_total{event="lost_race"}': 5,
  };
  expect(await readMetrics(registry)).toEqual({
    ...shown,
    'chain_block{block="head"}': 5,
    'chain_block{block="failed"}': 6,
    chain_projection_failed: 1,
    chain_spans_refused: 1,
    'indexer_block{block="tip"}': 2,
  });
  Object.assign(world, { state: { head: { number: 7n } }, fault: null, refusedSpan: null });
  status = { ...status, tip: null };
  expect(await readMetrics(registry)).toEqual({ ...shown, ...sound, 'chain_block{block="head"}': 7 });
});

it('metrics of stores are what they answer, without what they answered before, and none of a standby', async () => {
  const registry = new Registry();
  let [isAway, isStandby, nowMs] = [false, false, 0];
  const answer = (value: unknown) => async () => {
    if (isAway) throw new Error('no answer');
    return value;
  };
  const jetStream = {
    account: answer({ usedBytes: 35, limitBytes: 40 }),
    info: answer(streamInfo({ bytes: 7, serverTime: new Date(6_500).toISOString() })),
  };
  registerStoreMetrics(registry, {
    database: { select: answer([['one', 1, 2]]) },
    jetStream: () => jetStream,
    streamSettings: { check: answer([]), risks: [{ stream: 'MINER_CHAIN', setting: 'max_age' }] },
    isStandby: () => isStandby,
    // A second passes with each look: the answer is of some time between 1 and 2 s.
    clock: { nowMs: () => (nowMs += 1_000) },
  } as never);
  const risks = { 'stream_setting_risks{stream="MINER_CHAIN",setting="max_age"}': 1 };
  expect(await readMetrics(registry)).toEqual({
    ...risks,
    'nats_store_bytes{kind="used"}': 35,
    'nats_store_bytes{kind="limit"}': 40,
    'nats_store_bytes{kind="server"}': 35,
    nats_clock_offset_seconds: 4.5,
    'database_disk_bytes{disk="one",kind="free"}': 1,
    'database_disk_bytes{disk="one",kind="total"}': 2,
  });
  isAway = true;
  expect(await readMetrics(registry)).toEqual(risks);
  [isAway, isStandby] = [false, true];
  expect(await readMetrics(registry)).toEqual({});
});

it('messages of a batch are counted by outcome, even if one cannot be folded', async () => {
  const registry = new Registry();
  const counts = createMessageCounts(registry);
  const collected: unknown[] = [];
  const receive = (seqs: readonly number[]) =>
    receiveBatch({
      stream: 'MINER_PIPELINE',
      batch: {
        streamCreated: 'then',
        messages: seqs.map((seq) => ({
          ...{ seq, subject: 'on', data: Buffer.of(seq), timestampNanos: 5n },
          headers: { get: (name) => (name === 'Nats-Msg-Id' ? `id ${seq}` : '') },
        })),
      },
      counts,
      receive: ({ seq }) => {
        if (seq === 4) throw new Error('a fault');
        if (seq === 2) return { rejection: { reason: 'duplicate', detail: 'twice' } };
        return seq === 3 ? 'unread' : { output: seq * 10 };
      },
      collect: (output, { seq }) => collected.push([output, seq]),
    });
  const message = { streamCreated: 'then', sequence: 2, storedAtNanos: 5n, subject: 'on', messageId: 'id 2' };
  const rejected = { ...message, data: Buffer.of(2), reason: 'duplicate', detail: 'twice' };
  expect(receive([1, 2, 3])).toEqual([rejected]);
  expect(() => receive([5, 4])).toThrow('a fault');
  expect(collected).toEqual([
    [10, 1],
    [50, 5],
  ]);
  expect(await readMetrics(registry)).toEqual({
    'messages_total{stream="MINER_PIPELINE",outcome="accepted"}': 2,
    'messages_total{stream="MINER_PIPELINE",outcome="rejected"}': 1,
    'messages_total{stream="MINER_PIPELINE",outcome="unread"}': 1,
    'messages_rejected_total{stream="MINER_PIPELINE",reason="duplicate"}': 1,
  });
});
