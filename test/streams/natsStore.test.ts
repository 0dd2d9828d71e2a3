import type { JetStreamAccountStats } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import { parseNanos } from '../../streams/nats/nanos.ts';
import { findCertainOffset } from '../../streams/nats/natsClock.ts';
import { measureAccount, measureFullestServer } from '../../streams/nats/natsStore.ts';
import { streamInfo } from '../support/streams/streamInfo.ts';

const account = (stats: object) => measureAccount(stats as JetStreamAccountStats);
const usage = (storage: number, max: number) => ({ storage, limits: { max_storage: max } });

/** An account with limits for one and for three replicas. */
const tiers = (one: ReturnType<typeof usage>, three: typeof one) => ({
  ...usage(one.storage + three.storage, 0),
  tiers: { R1: one, R3: three },
});

describe('the store of NATS', () => {
  it.each([
    ['without a limit', usage(7, -1), 7, null],
    ['with a limit, which counts every copy', usage(7, 10), 7, 10],
    ['with limits of one copy for each number of replicas', tiers(usage(7, 10), usage(30, 20)), 7, 10],
    ['nearly full with three replicas', tiers(usage(7, 10), usage(45, 20)), 45, 60],
    ['with a limit for some of them', tiers(usage(7, -1), usage(30, 20)), 30, 60],
    ['with streams, but no limit for them', { ...usage(37, 0), tiers: { R1: usage(37, 0) } }, 37, null],
  ])('is measured for an account %s', (_what, stats, usedBytes, limitBytes) => {
    expect(account(stats)).toMatchObject({ usedBytes, limitBytes });
  });

  const peer = (name: string) => ({ name, isOffline: false, isCurrent: true });
  const stream = (bytes: number, leader?: string, ...others: string[]) =>
    streamInfo({
      bytes,
      cluster: leader === undefined ? null : { name: 'c', leader, peers: others.map((name) => peer(name)) },
    });
  it.each([
    ['a single server', [stream(3), stream(4)], 7, 7],
    ['a single server with streams of others', [stream(3)], 9, 9],
    ['three servers with three copies', [stream(3, 'a', 'b', 'c'), stream(4, 'b', 'a', 'c')], 21, 7],
    ['three servers with one copy', [stream(3, 'a'), stream(5, 'b'), stream(4, 'a')], 12, 7],
    ['five servers', [stream(3, 'a', 'b', 'c'), stream(4, 'c', 'd', 'e')], 21, 7],
    ['three servers with streams of others', [stream(3, 'a', 'b', 'c')], 30, 10],
    ['no stream', [], 5, 5],
  ])('is that of the fullest of %s', (_what, streams, used, bytes) => {
    expect(measureFullestServer(streams, used)).toBe(bytes);
  });
});

it('a clock is ahead by less than was measured, as far as that is certain', () => {
  const offsets = [-50, 10, 50].map((offsetMs) => findCertainOffset({ offsetMs, uncertainMs: 20 }));
  expect(offsets).toEqual([-30, 0, 30]);
});

it('times of messages are read to the nanosecond', () => {
  const read = (fraction: string) => parseNanos(`2026-01-31T12:00:00${fraction}Z`) % 1_000_000_000n;
  expect(['', '.5', '.000000001'].map(read)).toEqual([0n, 500_000_000n, 1n]);
});
