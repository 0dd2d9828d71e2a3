import {
  DiscardPolicy,
  PersistMode,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import type { StreamName } from '../../actors/messages/subjects.ts';
import { findStreamRisks } from '../../streams/jetstream/settings/streamRisks.ts';
import { createStreamSettingsWatch } from '../../streams/jetstream/settings/streamSettings.ts';
import { collectLines } from '../support/collectLines.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { createStreams } from '../support/streams/startStreams.ts';

const dayNanos = 86_400 * 1e9;
const origin = 'ELSEWHERE';

/** Settings of a stream, and those that are reported. */
type Case = readonly [stream: StreamName, set: Partial<StreamConfig>, risks: readonly string[]];

/** Settings of a new stream. */
const sound = { storage: 'file', retention: 'limits', deny_delete: true, deny_purge: true } as StreamConfig;

const perSubject = { max_msgs_per_subject: 1 };
const refusing = { discard: DiscardPolicy.New };
const refusingPerSubject = { ...refusing, ...perSubject, discard_new_per_subject: true };

const cases: readonly Case[] = [
  ['MINER_COUNTER', { storage: StorageType.Memory }, ['storage']],
  ['MINER_REJECTED', { storage: StorageType.Memory }, ['storage']],
  // The next renewal replaces a lost lease.
  ['MINER_LEASE', { storage: StorageType.Memory }, []],
  ['MINER_COUNTER', { retention: RetentionPolicy.Interest }, ['retention']],
  ['MINER_CHAIN', { retention: RetentionPolicy.Workqueue }, ['retention']],
  ['MINER_PIPELINE', { max_age: dayNanos }, ['max_age']],
  ['MINER_COUNTER', { max_msgs: 1_000 }, ['max_msgs']],
  ['MINER_COUNTER', { max_bytes: 1_000_000, ...refusing }, ['max_bytes']],
  ['MINER_COUNTER', refusing, []],
  ['MINER_COUNTER', perSubject, ['max_msgs_per_subject']],
  ['MINER_PIPELINE', refusingPerSubject, ['max_msgs_per_subject']],
  // The oldest rejections may leave, but none may be refused.
  ['MINER_REJECTED', { max_msgs: 1_000 }, []],
  ['MINER_REJECTED', { max_bytes: 1_000_000, ...refusing }, ['discard']],
  ['MINER_LEASE', perSubject, []],
  ['MINER_LEASE', refusingPerSubject, ['discard']],
  ['MINER_COUNTER', { max_msg_size: 20 * 1024 - 1 }, ['max_msg_size']],
  ['MINER_COUNTER', { max_msg_size: 20 * 1024 }, []],
  ['MINER_PIPELINE', { max_msg_size: 256 * 1024 }, ['max_msg_size']],
  ['MINER_REJECTED', { max_msg_size: 4_096 }, ['max_msg_size']],
  ['MINER_COUNTER', { no_ack: true }, ['no_ack']],
  ['MINER_LEASE', { no_ack: true }, ['no_ack']],
  ['MINER_PIPELINE', { sealed: true }, ['sealed']],
  ['MINER_COUNTER', { mirror: { name: origin } }, []],
  ['MINER_COUNTER', { mirror: { name: origin, filter_subject: 'other.one' } }, ['mirror']],
  ['MINER_COUNTER', { mirror: { name: origin, opt_start_seq: 2 } }, ['mirror']],
  ['MINER_COUNTER', { mirror: { name: origin, opt_start_time: '2026-01-31T12:00:00Z' } }, ['mirror']],
  [
    'MINER_COUNTER',
    { mirror: { name: origin, subject_transforms: [{ src: 'other.*', dest: 'miner.counter.$1' }] } },
    ['mirror'],
  ],
  ['MINER_REJECTED', { mirror: { name: origin } }, ['mirror']],
  ['MINER_COUNTER', { sources: [{ name: origin }] }, ['sources']],
  [
    'MINER_COUNTER',
    { subject_transform: { src: 'miner.counter.*', dest: 'miner.other.$1' } },
    ['subject_transform'],
  ],
  ['MINER_COUNTER', { allow_rollup_hdrs: true, deny_purge: false }, ['allow_rollup_hdrs', 'deny_purge']],
  ['MINER_COUNTER', { deny_delete: false }, ['deny_delete']],
  ['MINER_COUNTER', { allow_msg_ttl: true }, ['allow_msg_ttl']],
  [
    'MINER_PIPELINE',
    { allow_msg_schedules: true, allow_rollup_hdrs: true, deny_purge: false },
    ['allow_rollup_hdrs', 'allow_msg_schedules', 'deny_purge'],
  ],
  ['MINER_COUNTER', { allow_msg_counter: true }, ['allow_msg_counter']],
  ['MINER_COUNTER', { persist_mode: PersistMode.Async }, ['persist_mode']],
  ['MINER_COUNTER', { max_consumers: 4 }, ['max_consumers']],
  [
    'MINER_COUNTER',
    { consumer_limits: { inactive_threshold: 10 * 1e9 } },
    ['consumer_limits.inactive_threshold'],
  ],
  ['MINER_COUNTER', { consumer_limits: { inactive_threshold: 30 * 1e9, max_ack_pending: 10 } }, []],
  // These neither lose nor refuse anything.
  ['MINER_COUNTER', { republish: { src: 'miner.counter.*', dest: 'copies.{{wildcard(1)}}' } }, []],
  ['MINER_COUNTER', { first_seq: 100 }, []],
  ['MINER_COUNTER', { allow_atomic: true }, []],
];

describe('settings of a stream', () => {
  it.each(cases)('are judged by whether %s loses or refuses messages with %j', (stream, set, expected) => {
    const risks = findStreamRisks({ ...sound, ...set }, { stream, retentionDays: 0 });
    expect(risks.map(({ setting }) => setting)).toEqual(expected);
    for (const { value, detail, remedy } of risks)
      for (const text of [value, detail, remedy]) expect(text).toMatch(/[^.]$/);
  });

  it.each([
    [0, 7, ['max_age']],
    [7, 0, []],
    [7, 7, []],
    [7, 8, []],
    [7, 6, ['max_age']],
  ])('are judged for MINER_RETENTION_DAYS=%j and %j days: %j', async (retentionDays, days, risks) => {
    const config = { ...sound, max_age: days * dayNanos };
    const judge = (stream: StreamName) =>
      findStreamRisks(config, { stream, retentionDays }).map(({ setting }) => setting);
    expect(judge('MINER_COUNTER')).toEqual(risks);
    // Spans are always kept.
    expect(judge('MINER_CHAIN')).toEqual(days === 0 ? [] : ['max_age']);
  });

  it('are logged once when they become a risk, and when not', async () => {
    const { jsm, jetStream } = await connectTo(await startNats());
    await createStreams(jetStream);
    const { lines, logger } = collectLines();
    const watch = createStreamSettingsWatch({ jetStream: () => jetStream, retentionDays: 0, logger });
    const checkTwice = async () => {
      await Promise.all([watch.check(), watch.check()]);
      await watch.check();
      return lines.splice(0).map(({ level, stream, setting }) => [level, stream, setting]);
    };
    expect(await checkTwice()).toEqual([]);
    await jsm.streams.update('MINER_COUNTER', perSubject);
    expect(await checkTwice()).toEqual([[40, 'MINER_COUNTER', 'max_msgs_per_subject']]);
    expect(watch.risks).toMatchObject([{ value: '1', isSevere: true }]);
    await jsm.streams.update('MINER_COUNTER', { max_msgs_per_subject: 2 });
    expect((await checkTwice()).map(([level]) => level)).toEqual([40, 30]);
    await jsm.streams.update('MINER_COUNTER', { max_msgs_per_subject: -1 });
    expect(await checkTwice()).toEqual([[30, 'MINER_COUNTER', 'max_msgs_per_subject']]);
    // A missing stream is another check's matter.
    await jsm.streams.delete('MINER_LEASE');
    expect(await watch.check()).toEqual([]);
  });
});
