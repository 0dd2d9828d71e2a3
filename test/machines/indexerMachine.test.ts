import { describe, expect, it, vi } from 'vitest';
import { createActor, fromPromise, type SnapshotFrom } from 'xstate';
import { defaultIndexerTimings, indexerMachine, indexerStates } from '../../machines/indexerMachine.ts';
import { useVirtualTime } from '../support/fakeTimers.ts';

type Snapshot = SnapshotFrom<typeof indexerMachine>;
const works = [
  ...(['askNode', 'resume', 'publishReads', 'compare', 'publishRanges', 'publishBlocks'] as const),
  ...(['proveBranch', 'awaitIdle', 'awaitReconnection'] as const),
];
type Work = (typeof works)[number];

/** An indexer whose work a test ends. `begun` lists the started work, in order. */
function indexer({ firstBlock = 100n } = {}) {
  const begun: Work[] = [];
  const cancelled: Work[] = [];
  const promises = new Map<Work, { resolve: (output: never) => void; reject: (error: unknown) => void }>();
  const createPromiseActor = (name: Work) =>
    fromPromise<never>(
      ({ signal }) =>
        new Promise((resolve, reject) => {
          begun.push(name);
          promises.set(name, { resolve, reject });
          signal.addEventListener('abort', () => cancelled.push(name));
        }),
    );
  const actor = createActor(
    indexerMachine.provide({
      actors: Object.fromEntries(works.map((name) => [name, createPromiseActor(name)])),
      actions: { noteStarted: () => undefined },
    }),
    { input: { firstBlock, timings: defaultIndexerTimings } },
  ).start();
  const turn = () => vi.advanceTimersByTimeAsync(0);
  const one = {
    actor,
    begun,
    cancelled,
    context: () => actor.getSnapshot().context,
    is: (state: Parameters<Snapshot['matches']>[0]) => actor.getSnapshot().matches(state),
    resolve: async (name: Work, output?: unknown) => {
      promises.get(name)?.resolve(output as never);
      await turn();
    },
    fail: async (name: Work, error: unknown = new Error('unavailable')) => {
      promises.get(name)?.reject(error);
      await turn();
    },
    /** Ends a comparison with this result. */
    compare: (head: bigint | null, tip: bigint, isFork = false) =>
      one.resolve('compare', { head, tip, isFork }),
    connect: async () => {
      await one.resolve('askNode');
      await one.resolve('resume');
      await one.resolve('publishReads');
    },
    /** Fails work, and passes the wait for the next attempt. */
    failAndRetry: async (name: Work) => {
      await one.fail(name);
      await one.resolve('awaitIdle');
      await vi.advanceTimersByTimeAsync(500);
    },
  };
  return one;
}

type TestIndexer = ReturnType<typeof indexer>;

const [lostRace, unpublishable] = (['lostRace', 'unpublishable'] as const).map((kind) => ({ kind }));

/** Leads a started indexer to each of its states. */
const ways: Record<string, (one: TestIndexer) => Promise<unknown>> = {
  connecting: async () => undefined,
  catchingUp: async (one) => {
    await one.connect();
    await one.compare(null, 1_000n);
  },
  following: async (one) => {
    await one.connect();
    await one.compare(999n, 1_000n);
  },
  reorganizing: async (one) => {
    await one.connect();
    await one.compare(999n, 1_000n, true);
  },
  lagging: async (one) => {
    await one.connect();
    await one.compare(1_001n, 1_000n);
  },
  failing: async (one) => {
    await one.fail('askNode');
    await one.resolve('awaitIdle');
  },
  unpublishable: async (one) => {
    await one.connect();
    await one.compare(999n, 1_000n);
    await one.fail('publishBlocks', unpublishable);
  },
};

describe('the machine of an indexer', () => {
  useVirtualTime();

  it('connects, catches up, follows, and waits at the tip', async () => {
    const one = indexer();
    await one.connect();
    expect(one.is({ blocks: 'connecting' })).toBe(true);
    await one.compare(null, 1_000n);
    expect(one.is({ blocks: 'catchingUp' })).toBe(true);
    expect(one.context()).toMatchObject({ head: null, tip: 1_000n, catchesUpTo: 1_000n });
    await one.resolve('publishRanges');
    expect(one.is({ blocks: { following: 'publishing' } })).toBe(true);
    await one.resolve('publishBlocks');
    expect(one.context().catchesUpTo).toBe(1_000n);
    await one.compare(1_000n, 1_000n);
    expect(one.is({ blocks: { following: 'upToDate' } })).toBe(true);
    expect(one.context().catchesUpTo).toBeNull();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(one.begun).toEqual([
      ...['askNode', 'resume', 'compare', 'publishReads', 'publishRanges'],
      ...['publishBlocks', 'compare', 'compare'],
    ]);
  });

  it.each([
    ['catches up if more than 64 blocks are left', 900n, 965n, false, 'catchingUp'],
    ['publishes 64 blocks one by one', 900n, 964n, false, { following: 'publishing' }],
    ['ignores another block of the same height', 1_000n, 1_000n, true, { following: 'upToDate' }],
  ] as const)('%s', async (_what, head, tip, isFork, blocks) => {
    const one = indexer();
    await one.connect();
    await one.compare(head, tip, isFork);
    expect(one.is({ blocks })).toBe(true);
  });

  it('catches up to the same block after a failure near it', async () => {
    const one = indexer();
    await ways.catchingUp?.(one);
    await one.failAndRetry('publishRanges');
    await one.connect();
    // A recreated stream would lack the timelock's logs.
    expect(one.begun.filter((name) => name === 'publishReads')).toHaveLength(2);
    await one.compare(940n, 1_001n);
    expect(one.context().catchesUpTo).toBe(1_000n);
  });

  it('waits for a chain without the first block', async () => {
    const one = indexer();
    await one.connect();
    await one.compare(null, 99n);
    expect(one.is({ blocks: { connecting: 'awaitingFirstBlock' } })).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    await one.compare(null, 100n);
    expect(one.is({ blocks: { following: 'publishing' } })).toBe(true);
  });

  it('requests no earlier logs if the first block follows the genesis', async () => {
    const one = indexer({ firstBlock: 1n });
    await one.resolve('askNode');
    await one.resolve('resume');
    expect(one.begun).toEqual(['askNode', 'resume', 'compare']);
  });

  it('publishes blocks while the timelock’s logs are searched, and requests them again after a minute', async () => {
    const one = indexer();
    await one.resolve('askNode');
    await one.resolve('resume');
    await one.compare(1_000n, 1_001n);
    expect(one.is({ blocks: { following: 'publishing' } })).toBe(true);
    const countAttempts = () => one.begun.filter((name) => name === 'publishReads').length;
    expect(countAttempts()).toBe(1);
    await one.fail('publishReads');
    await vi.advanceTimersByTimeAsync(59_999);
    expect(countAttempts()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(countAttempts()).toBe(2);
    await one.resolve('publishReads');
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(countAttempts()).toBe(2);
    expect(one.context().providerFailures).toBe(0);
  });

  it('waits while the node is behind the published blocks, then continues', async () => {
    const one = indexer();
    await one.connect();
    for (let look = 0; look < 3; look++) {
      await one.compare(1_000n, 900n);
      expect(one.is({ blocks: { lagging: 'waitingForNode' } })).toBe(true);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(one.is({ blocks: { lagging: 'comparingAgain' } })).toBe(true);
    }
    await one.compare(1_000n, 1_002n);
    expect(one.is({ blocks: { following: 'publishing' } })).toBe(true);
  });

  it('follows another branch once it is proved', async () => {
    const one = indexer();
    await one.connect();
    await one.compare(1_000n, 1_001n, true);
    expect(one.is({ blocks: 'reorganizing' })).toBe(true);
    await one.resolve('proveBranch');
    expect(one.is({ blocks: { following: 'looking' } })).toBe(true);
    expect(one.context().reorganizations).toBe(1);
    await one.compare(997n, 1_001n);
    expect(one.is({ blocks: { following: 'publishing' } })).toBe(true);
  });

  it('reads the stream again after a reorganization that failed half way, and finds the fork again', async () => {
    const one = indexer();
    await one.connect();
    await one.compare(1_000n, 1_001n, true);
    await one.resolve('proveBranch');
    await one.compare(997n, 1_001n);
    await one.failAndRetry('publishBlocks');
    await one.connect();
    // Meanwhile the node went back to yet another branch.
    await one.compare(998n, 1_003n, true);
    await one.fail('proveBranch');
    await one.resolve('awaitIdle');
    expect(one.is({ blocks: { failing: 'backingOff' } })).toBe(true);
    expect(one.context()).toMatchObject({ failures: 2, reorganizations: 1 });
  });

  it('reconnects after a failure of any work, and distinguishes a lost race from a failing provider', async () => {
    const works: [string, Work][] = [
      ['connecting', 'askNode'],
      ['catchingUp', 'publishRanges'],
      ['following', 'publishBlocks'],
      ['reorganizing', 'proveBranch'],
    ];
    for (const [state, work] of works) {
      for (const error of [lostRace, new Error('unavailable')]) {
        const one = indexer();
        await ways[state]?.(one);
        await one.fail(work, error);
        const [lostRaces, providerFailures] = error === lostRace ? [1, 0] : [0, 1];
        expect(one.context()).toMatchObject({ failures: 1, error, lostRaces, providerFailures });
        expect(one.is({ blocks: { failing: 'awaitingIdle' } })).toBe(true);
        // Work in progress is awaited before the stream is read again.
        await vi.advanceTimersByTimeAsync(60_000);
        expect(one.is({ blocks: { failing: 'awaitingIdle' } })).toBe(true);
        await one.resolve('awaitIdle');
        await vi.advanceTimersByTimeAsync(499);
        expect(one.is({ blocks: { failing: 'backingOff' } })).toBe(true);
        await vi.advanceTimersByTimeAsync(1);
        expect(one.is({ blocks: { connecting: 'askingNode' } })).toBe(true);
      }
    }
  });

  it('names the part that it waits for, and retries at once when NATS is connected again', async () => {
    for (const [error, waitingFor, providerFailures] of [
      [{ kind: 'streamUnavailable' }, 'NATS', 0],
      [new Error('refused'), 'the node', 1],
    ] as const) {
      const one = indexer();
      await one.resolve('askNode');
      await one.fail('resume', error);
      expect(one.context()).toMatchObject({ waitingFor, providerFailures, failures: 1 });
      await one.resolve('awaitIdle');
      await one.resolve('awaitReconnection');
      expect(one.is({ blocks: { connecting: 'askingNode' } })).toBe(true);
      await one.connect();
      await one.compare(1_000n, 1_000n);
      expect(one.context().waitingFor).toBeNull();
    }
  });

  it('stands still before an unpublishable span, and retries rarely or when NATS has restarted', async () => {
    const one = indexer();
    await ways.unpublishable?.(one);
    expect(one.context()).toMatchObject({ providerFailures: 0, lostRaces: 0, error: unpublishable });
    for (let failure = 0; failure < 3; failure++) {
      expect(one.is({ blocks: 'unpublishable' })).toBe(true);
      await vi.advanceTimersByTimeAsync(60_000);
      expect(one.is({ blocks: 'connecting' })).toBe(true);
      await one.connect();
      await one.compare(999n, 1_000n);
      await one.fail('publishBlocks', unpublishable);
    }
    await vi.advanceTimersByTimeAsync(59_999);
    expect(one.is({ blocks: 'unpublishable' })).toBe(true);
    await one.resolve('awaitReconnection');
    expect(one.is({ blocks: 'connecting' })).toBe(true);
  });

  it('forgets its failures once a step has succeeded', async () => {
    const one = indexer();
    for (let failure = 0; failure < 3; failure++) {
      await one.fail('askNode');
      await one.resolve('awaitIdle');
      await vi.advanceTimersByTimeAsync(5_000);
    }
    await one.connect();
    expect(one.context().failures).toBe(3);
    await one.compare(1_000n, 1_000n);
    expect(one.context()).toMatchObject({ failures: 0, providerFailures: 3 });
  });

  it('waits at most five seconds between two attempts, however far behind and often it failed', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const one = indexer();
    await ways.catchingUp?.(one);
    await one.fail('publishRanges');
    for (let failure = 0; failure < 12; failure++) {
      await one.resolve('awaitIdle');
      await vi.advanceTimersByTimeAsync(5_000);
      expect(one.is({ blocks: 'connecting' })).toBe(true);
      await one.fail('askNode');
    }
    await one.resolve('awaitIdle');
    await vi.advanceTimersByTimeAsync(4_999);
    expect(one.is({ blocks: { failing: 'backingOff' } })).toBe(true);
  });

  it.each(Object.keys(ways))('stops while it is %s, once publishing has ended', async (state) => {
    const one = indexer();
    await ways[state]?.(one);
    expect(indexerStates.filter((shown) => one.is({ blocks: shown }))).toEqual([state]);
    one.actor.send({ type: 'stopped', graceMs: 180_000 });
    expect(one.is({ blocks: 'stopping' })).toBe(true);
    const { length } = one.begun;
    expect(one.begun.at(-1)).toBe('awaitIdle');
    const ended: Record<string, Work[]> = { catchingUp: ['publishRanges'], following: ['publishBlocks'] };
    expect(one.cancelled.filter((name) => name.startsWith('publish'))).toEqual(ended[state] ?? []);
    await vi.advanceTimersByTimeAsync(120_000);
    await one.resolve('awaitIdle');
    expect(one.actor.getSnapshot()).toMatchObject({ status: 'done', value: { blocks: 'stopped' } });
    expect(one.begun).toHaveLength(length);
  });

  it('ends without the publication in progress after its grace period', async () => {
    const one = indexer();
    await ways.following?.(one);
    one.actor.send({ type: 'stopped', graceMs: 400 });
    await vi.advanceTimersByTimeAsync(399);
    expect(one.actor.getSnapshot().status).toBe('active');
    await vi.advanceTimersByTimeAsync(1);
    expect(one.actor.getSnapshot()).toMatchObject({ status: 'done', value: { blocks: 'stopped' } });
  });
});
