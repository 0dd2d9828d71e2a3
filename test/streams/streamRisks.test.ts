import {
  DiscardPolicy,
  PersistMode,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { StreamName } from '../../actors/messages/subjects.ts';
import { findStreamRisks } from '../../streams/jetstream/settings/streamRisks.ts';
import { createStreamSettingsWatch } from '../../streams/jetstream/settings/streamSettings.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { createStreams } from '../support/streams/startStreams.ts';

const dayNanos = 86_400 * 1e9;
const origin = 'ELSEWHERE';

/** Settings of a stream, and those that are reported. */
interface Case {
  readonly of: StreamName;
  readonly set: Partial<StreamConfig>;
  readonly risks: readonly string[];
}

const describeCase = ({ of, set }: Case) => `${of} ${JSON.stringify(set)}`;
/** Settings of a new stream. */
const sound = { storage: 'file', retention: 'limits', deny_delete: true, deny_purge: true } as StreamConfig;

const perSubject = { max_msgs_per_subject: 1 };
const refusing = { discard: DiscardPolicy.New };
const refusingPerSubject = { ...refusing, ...perSubject, discard_new_per_subject: true };

const cases: readonly Case[] = [
  { of: 'MINER_COUNTER', set: { storage: StorageType.Memory }, risks: ['storage'] },
  { of: 'MINER_REJECTED', set: { storage: StorageType.Memory }, risks: ['storage'] },
  // The next renewal replaces a lost lease.
  { of: 'MINER_LEASE', set: { storage: StorageType.Memory }, risks: [] },
  { of: 'MINER_COUNTER', set: { retention: RetentionPolicy.Interest }, risks: ['retention'] },
  { of: 'MINER_CHAIN', set: { retention: RetentionPolicy.Workqueue }, risks: ['retention'] },
  { of: 'MINER_PIPELINE', set: { max_age: dayNanos }, risks: ['max_age'] },
  { of: 'MINER_COUNTER', set: { max_msgs: 1_000 }, risks: ['max_msgs'] },
  { of: 'MINER_COUNTER', set: { max_bytes: 1_000_000, ...refusing }, risks: ['max_bytes'] },
  { of: 'MINER_COUNTER', set: refusing, risks: [] },
  { of: 'MINER_COUNTER', set: perSubject, risks: ['max_msgs_per_subject'] },
  { of: 'MINER_PIPELINE', set: refusingPerSubject, risks: ['max_msgs_per_subject'] },
  // The oldest rejections may leave, but none may be refused.
  { of: 'MINER_REJECTED', set: { max_msgs: 1_000 }, risks: [] },
  { of: 'MINER_REJECTED', set: { max_bytes: 1_000_000, ...refusing }, risks: ['discard'] },
  { of: 'MINER_LEASE', set: perSubject, risks: [] },
  { of: 'MINER_LEASE', set: refusingPerSubject, risks: ['discard'] },
  { of: 'MINER_COUNTER', set: { max_msg_size: 20 * 1024 - 1 }, risks: ['max_msg_size'] },
  { of: 'MINER_COUNTER', set: { max_msg_size: 20 * 1024 }, risks: [] },
  { of: 'MINER_PIPELINE', set: { max_msg_size: 256 * 1024 }, risks: ['max_msg_size'] },
  { of: 'MINER_REJECTED', set: { max_msg_size: 4_096 }, risks: ['max_msg_size'] },
  { of: 'MINER_COUNTER', set: { no_ack: true }, risks: ['no_ack'] },
  { of: 'MINER_LEASE', set: { no_ack: true }, risks: ['no_ack'] },
  { of: 'MINER_PIPELINE', set: { sealed: true }, risks: ['sealed'] },
  { of: 'MINER_COUNTER', set: { mirror: { name: origin } }, risks: [] },
  { of: 'MINER_COUNTER', set: { mirror: { name: origin, filter_subject: 'other.one' } }, risks: ['mirror'] },
  { of: 'MINER_COUNTER', set: { mirror: { name: origin, opt_start_seq: 2 } }, risks: ['mirror'] },
  {
    of: 'MINER_COUNTER',
    set: { mirror: { name: origin, opt_start_time: '2026-01-31T12:00:00Z' } },
    risks: ['mirror'],
  },
  {
    of: 'MINER_COUNTER',
    set: { mirror: { name: origin, subject_transforms: [{ src: 'other.*', dest: 'miner.counter.$1' }] } },
    risks: ['mirror'],
  },
  { of: 'MINER_REJECTED', set: { mirror: { name: origin } }, risks: ['mirror'] },
  { of: 'MINER_COUNTER', set: { sources: [{ name: origin }] }, risks: ['sources'] },
  {
    of: 'MINER_COUNTER',
    set: { subject_transform: { src: 'miner.counter.*', dest: 'miner.other.$1' } },
    risks: ['subject_transform'],
  },
  {
    of: 'MINER_COUNTER',
    set: { allow_rollup_hdrs: true, deny_purge: false },
    risks: ['allow_rollup_hdrs', 'deny_purge'],
  },
  { of: 'MINER_COUNTER', set: { deny_delete: false }, risks: ['deny_delete'] },
  { of: 'MINER_COUNTER', set: { allow_msg_ttl: true }, risks: ['allow_msg_ttl'] },
  {
    of: 'MINER_PIPELINE',
    set: { allow_msg_schedules: true, allow_rollup_hdrs: true, deny_purge: false },
    risks: ['allow_rollup_hdrs', 'allow_msg_schedules', 'deny_purge'],
  },
  { of: 'MINER_COUNTER', set: { allow_msg_counter: true }, risks: ['allow_msg_counter'] },
  { of: 'MINER_COUNTER', set: { persist_mode: PersistMode.Async }, risks: ['persist_mode'] },
  { of: 'MINER_COUNTER', set: { max_consumers: 4 }, risks: ['max_consumers'] },
  {
    of: 'MINER_COUNTER',
    set: { consumer_limits: { inactive_threshold: 10 * 1e9 } },
    risks: ['consumer_limits.inactive_threshold'],
  },
  {
    of: 'MINER_COUNTER',
    set: { consumer_limits: { inactive_threshold: 30 * 1e9, max_ack_pending: 10 } },
    risks: [],
  },
  // These neither lose nor refuse anything.
  {
    of: 'MINER_COUNTER',
    set: { republish: { src: 'miner.counter.*', dest: 'copies.{{wildcard(1)}}' } },
    risks: [],
  },
  { of: 'MINER_COUNTER', set: { first_seq: 100 }, risks: [] },
  { of: 'MINER_COUNTER', set: { allow_atomic: true }, risks: [] },
];

describe('settings of a stream', () => {
  it.each(cases.map((one) => [describeCase(one), one] as const))(
    'are judged by whether they lose or refuse messages: %s',
    (_, { of, set, risks: expected }) => {
      const risks = findStreamRisks({ ...sound, ...set }, { stream: of, retentionDays: 0 });
      expect(risks.map(({ setting }) => setting)).toEqual(expected);
      for (const { value, detail, remedy } of risks)
        for (const text of [value, detail, remedy]) expect(text).toMatch(/[^.]$/);
    },
  );

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
    const lines: { level: number; stream?: string; setting?: string }[] = [];
    const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
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
