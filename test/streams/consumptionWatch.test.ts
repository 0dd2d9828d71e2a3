import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { createDoubts } from '../../streams/jetstream/proofs/doubts.ts';
import { startOfStream } from '../../streams/jetstream/proofs/streamPosition.ts';
import { createStreamVerifier } from '../../streams/jetstream/proofs/streamVerifier.ts';
import { watchConsumption } from '../../streams/jetstream/source/consumptionWatch.ts';
import { createMessageSource } from '../../streams/jetstream/source/messageSource.ts';
import { createGate } from '../../streams/operators/gate.ts';
import { useVirtualTime } from '../support/fakeTimers.ts';
import { manualClock } from '../support/manualClock.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { streamInfo } from '../support/streams/streamInfo.ts';

describe('the watch of a consumer', () => {
  useVirtualTime();

  /** A consumer that has reached message 3 of a stream that ends with 9. */
  function start() {
    const clock = manualClock();
    const stopping = new AbortController();
    const world = {
      position: 3,
      last: 9,
      created: 'then',
      isHeldBack: false,
      deleted: [] as number[],
      isArriving: false,
      isAway: false,
      replicas: 1,
    };
    const said: unknown[] = [];
    const skipped: unknown[] = [];
    let reason: string | null = null;
    const delivery = {
      reason: () => reason,
      stop: (why: string) => {
        reason ??= why;
      },
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
    };
    const jetStream = {
      info: async (_stream: string, { withDeleted = false } = {}) => {
        if (withDeleted && world.isArriving) world.position++;
        if (world.isAway) throw new Error('no answer');
        clock.advance(5);
        const { created, replicas, last: lastSequence, deleted } = world;
        return streamInfo({ created, replicas, lastSequence, deleted });
      },
      message: async () => null,
    };
    const verifier = createStreamVerifier({ jetStream, stream: 'MINER_COUNTER', clock });
    const watch = watchConsumption({
      verifier,
      doubts: createDoubts(verifier),
      clock,
      delivery,
      signal: stopping.signal,
      isHeldBack: () => world.isHeldBack,
      reached: () => ({ streamCreated: 'then', position: world.position, digest: null }),
      onEndSeen: (sequence, atMs) => said.push(`end ${sequence} at ${atMs - clock.bootMs()}`),
      onVerified: (atMs) => said.push(`verified at ${atMs - clock.bootMs()}`),
      onUnknown: () => said.push('unknown'),
      skipRest: async (through, { isDeleted }) => {
        skipped.push([world.position, through, isDeleted]);
        world.position = through;
      },
    });
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 500) {
        clock.advance(500);
        await vi.advanceTimersByTimeAsync(500);
      }
    };
    return { world, said, skipped, watch, stopping, pass, ended: delivery.reason };
  }

  it('reports the end of the stream as of the question', async () => {
    const { world, said, watch, pass, ended } = start();
    await pass(2_000);
    expect(said.splice(0)).toEqual(['end 9 at -5', 'verified at -5']);
    world.isAway = true;
    await pass(2_000);
    expect([said, ended()]).toEqual([['unknown'], null]);
    watch.stop();
  });

  it('lets a late leader answer, and ends once all agree for long', async () => {
    const { world, said, watch, pass, ended } = start();
    Object.assign(world, { replicas: 3, position: 9, last: 7 });
    await pass(10_000);
    // The leader has now applied the messages of the first question, but not the later ones.
    Object.assign(world, { position: 19, last: 12 });
    await pass(26_000);
    expect([said.some((what) => String(what).startsWith('verified')), ended()]).toEqual([true, null]);
    world.last = 19;
    await pass(2_000);
    said.length = 0;
    Object.assign(world, { position: 29 });
    await pass(30_000);
    expect([said.some((what) => String(what).startsWith('verified')), ended()]).toEqual([false, null]);
    await pass(4_000);
    expect(ended()).toBe('stream diverged');
    expect(watch.throwFailure).toThrow('it ends at 19, folded through 29');
    watch.stop();
  });

  it.each([
    ['nothing while it is held back', { isHeldBack: true }, null],
    ['nothing at the end of the stream', { position: 9 }, null],
    ['a delivery that stands still', {}, 'delivery stalled'],
    ['nothing if the rest was deleted, which is skipped', { deleted: [4, 5, 6, 7, 8, 9] }, null],
    ['nothing if messages arrive meanwhile', { deleted: [4, 5, 6, 7, 8, 9], isArriving: true }, null],
    ['another stream', { created: 'now' }, 'stream diverged'],
  ])('ends it for %s', async (_what, change, reason) => {
    const { world, skipped, watch, pass, ended } = start();
    Object.assign(world, change);
    await pass(22_000);
    expect(ended()).toBe(reason);
    expect(skipped).toEqual('deleted' in change && !('isArriving' in change) ? [[3, 9, true]] : []);
    if ('created' in change) expect(watch.throwFailure).toThrow('created now');
    else watch.throwFailure();
    watch.stop();
  });

  it('waits fifteen seconds after the last progress', async () => {
    const { world, watch, pass, ended } = start();
    await pass(10_000);
    world.position = 4;
    await pass(16_000);
    expect(ended()).toBeNull();
    await pass(4_000);
    expect(ended()).toBe('delivery stalled');
    watch.stop();
  });

  it('leaves no timer or listener behind, and stops with its reader', () => {
    const { watch, stopping, ended } = start();
    watch.stop();
    expect([vi.getTimerCount(), getEventListeners(stopping.signal, 'abort')]).toEqual([0, []]);
    const other = start();
    other.stopping.abort();
    expect([ended(), other.ended()]).toEqual([null, 'stopped']);
    other.watch.stop();
  });
});

describe('a message source', () => {
  useVirtualTime();

  it('gives a slow server more time for its answers once an election would be over', async () => {
    const verify = () =>
      new Promise((resolve) => setTimeout(resolve, 5_000, { info: streamInfo(), askedAtMs: 0 }));
    const source = createMessageSource({
      stream: 'MINER_COUNTER',
      verifier: { verify, findRemoved: () => null },
      jetStream: { deliver: () => new Promise(() => undefined) },
      clock: manualClock(),
      logger: silentLogger,
    } as never);
    source.batchesAfter(startOfStream, createGate({ max: 1 })).subscribe();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(source.status().verifiedAtMs).toBe(0);
  });
});
