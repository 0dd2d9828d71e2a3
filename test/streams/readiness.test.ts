import { describe, expect, it } from 'vitest';
import { indexerStates } from '../../machines/indexerMachine.ts';
import { describeIndexer } from '../../streams/health/indexerReadiness.ts';
import { createReadiness } from '../../streams/health/readiness.ts';
import { notStarted } from '../../streams/indexer/indexer.ts';
import type { StreamRisk } from '../../streams/jetstream/settings/streamRisks.ts';
import type { StreamWork } from '../../streams/work/streamWork.ts';
import { manualClock } from '../support/manualClock.ts';

const graceMs = 3_000;

type Options = Parameters<typeof createReadiness>[0];

interface World {
  /** Status of the only follower. */
  readonly status?: object;
  readonly isRestored?: boolean;
  /** How long the writer has waited for ClickHouse, and the log for MINER_REJECTED. */
  readonly storingForMs?: number;
  readonly publishingForMs?: number;
  readonly options?: Partial<Options>;
}

/** A process that is ready unless told otherwise, at 60 seconds of wall time and 5 seconds after the boot. */
function read({ status, isRestored = true, storingForMs, publishingForMs, options }: World = {}) {
  const clock = manualClock(60_000);
  const following = { state: 'following', isCurrent: true, position: 9, lastSequence: 9 };
  const follower = {
    isRestored,
    status: () => ({ ...following, freshAsOfMs: clock.bootMs() - graceMs, ...status }),
  };
  const work = {
    followers: new Map([['MINER_COUNTER', follower]]),
    writers: new Map([['MINER_COUNTER', { status: () => ({ storingForMs }) }]]),
    rejections: new Map([['MINER_COUNTER', { publishingForMs }]]),
  } as unknown as StreamWork;
  const { isReady, detail } = createReadiness({
    clock,
    graceMs,
    work: () => work,
    isNatsConnected: () => true,
    databaseReach: () => ({ isReachable: true, isWithinGrace: true }),
    ingest: { standbyFor: () => null },
    mayWrite: () => true,
    streamGuard: { lost: [] },
    streamSettings: { risks: [] },
    isLeaving: () => false,
    chain: null,
    conditions: () => null,
    ...options,
  })();
  const { waitingFor, clickhouse, streams, streamRisks } = detail as unknown as {
    readonly waitingFor: readonly string[];
    readonly clickhouse: string;
    readonly streamRisks: unknown;
    readonly streams: { readonly MINER_COUNTER?: { readonly lag: number | null } };
  };
  expect(isReady).toBe(waitingFor.length === 0);
  return { waitingFor, clickhouse, streamRisks, lag: streams.MINER_COUNTER?.lag };
}

const lost = { stream: 'MINER_COUNTER', folded: 'once', found: null } as const;
const loses = { streamGuard: { lost: [lost] } };
const disconnected = { isNatsConnected: () => false };
const isBehind = { isCurrent: false };
const loseDatabase = (isWithinGrace: boolean) => ({
  databaseReach: () => ({ isReachable: false, isWithinGrace }),
});
const holder = { host: 'other', pid: 1, pidSpace: null };
const isHalted = { storingForMs: graceMs + 1, options: { mayWrite: () => false } };

const refusedAt = (storedAtMs: number): Partial<Options> => ({
  chain: {
    fault: null,
    refusedSpan: { sequence: 1, storedAtMs, rejection: { reason: 'malformed', detail: '' } },
  },
});

describe('a process', () => {
  it.each<[string, World, string[]]>([
    ['nothing', {}, []],
    ['a stream known as of too long ago', { status: { freshAsOfMs: 4_999 - graceMs } }, ['MINER_COUNTER']],
    ['a stream it knows nothing of', { status: { freshAsOfMs: null } }, ['MINER_COUNTER']],
    ['a stream with messages left', { status: isBehind }, ['MINER_COUNTER']],
    ['nothing during a brief loss of NATS', { options: disconnected }, []],
    ['NATS, once a stream is behind', { status: isBehind, options: disconnected }, ['NATS', 'MINER_COUNTER']],
    ['nothing while rows wait within the grace', { storingForMs: graceMs }, []],
    ['ClickHouse, which takes no rows', { storingForMs: graceMs + 1 }, ['ClickHouse']],
    ['the lease, without which it stores no rows', isHalted, ['the ingest lease']],
    ['nothing in a short outage of ClickHouse', { options: loseDatabase(true) }, []],
    ['ClickHouse, in a long outage', { options: loseDatabase(false) }, ['ClickHouse']],
    ['nothing while a rejection waits within the grace', { publishingForMs: graceMs }, []],
    ['MINER_REJECTED, which takes no rejection', { publishingForMs: graceMs + 1 }, ['MINER_REJECTED']],
    ['nothing while spans are refused within the grace', { options: refusedAt(60_000 - graceMs) }, []],
    ['a span that can be folded', { options: refusedAt(59_999 - graceMs) }, ['a span that can be folded']],
    ['the lease', { options: { ingest: { standbyFor: () => holder } } }, ['the ingest lease']],
    ['its end', { options: { isLeaving: () => true } }, ['the end of this process']],
    [
      'its streams, at the start',
      { options: { work: () => null, ...disconnected } },
      ['NATS', 'the streams'],
    ],
    ['a lost stream', { status: { state: 'missing' }, options: loses }, ['MINER_COUNTER']],
    ['a lost stream that is not restored', { isRestored: false, options: loses }, ['MINER_COUNTER']],
    ['nothing once a lost stream is followed again', { options: loses }, []],
  ])('waits for %s', (_what, world, waitingFor) => {
    expect(read(world).waitingFor).toEqual(waitingFor);
  });

  it('shows the lag of a stream, unknown without an answer, and risks of its settings', () => {
    const lags = [{ lastSequence: 12 }, { lastSequence: 3 }, { lastSequence: null }];
    expect(lags.map((status) => read({ status }).lag)).toEqual([3, 0, null]);
    const risk = { stream: 'MINER_COUNTER', setting: 'max_msgs', value: '1' } as StreamRisk;
    expect(read({ options: { streamSettings: { risks: [risk] } } }).streamRisks).toMatchObject([risk]);
    const worlds: World[] = [{}, { storingForMs: graceMs + 1 }, isHalted, { options: loseDatabase(true) }];
    expect(worlds.map((world) => read(world).clickhouse)).toEqual([
      'reachable',
      'refusing rows',
      'reachable',
      'unavailable',
    ]);
  });
});

it('an indexer that does not follow the chain names what it waits for', () => {
  for (const state of indexerStates) {
    const { isReady, detail } = describeIndexer({ ...notStarted, state });
    expect([state, isReady, detail.waitingFor]).toEqual([
      state,
      state === 'following',
      state === 'following' ? [] : [expect.any(String)],
    ]);
  }
  expect(describeIndexer({ ...notStarted, waitingFor: 'NATS' }).detail).toMatchObject({
    waitingFor: ['NATS'],
  });
});
