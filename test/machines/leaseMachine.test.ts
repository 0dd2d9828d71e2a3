import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import { leaseMachine } from '../../machines/leaseMachine.ts';
import type { LeaseFault, LeaseHolder, LeaseObservation } from '../../machines/leaseSetup.ts';

const other: LeaseHolder = { host: 'other', pid: 2 };
const us: LeaseHolder = { host: 'here', pid: 1 };

/** A lease in a store, which tests change without notice to its readers. */
function createStore() {
  return {
    sequence: 0,
    holder: null as LeaseHolder | null,
    isAway: false,
    isMissing: false,
    /** Questions are answered after so long. */
    answerMs: 0,
    replacements: [] as string[],
  };
}

function contend(store = createStore(), isUnused = true) {
  const said: string[] = [];
  const answer = async () => {
    if (store.answerMs > 0) await new Promise((resolve) => setTimeout(resolve, store.answerMs));
    if (store.isAway) throw new Error('unavailable');
  };
  const lease = createActor(
    leaseMachine.provide({
      actors: {
        observe: fromPromise(async (): Promise<LeaseObservation> => {
          const askedAtMs = Date.now();
          await answer();
          const { sequence, holder } = store;
          return { sequence, holder, hasHolderEnded: false, askedAtMs, answeredAtMs: Date.now() };
        }),
        replace: fromPromise(async ({ input: { sequence, holds } }) => {
          const sinceMs = Date.now();
          await answer();
          if (sequence !== store.sequence) throw new Error('wrong last sequence');
          store.replacements.push(holds ? 'held' : 'given back');
          store.sequence++;
          store.holder = holds ? us : null;
          return { sequence: store.sequence, sinceMs };
        }),
        verify: fromPromise(async () => {
          if (store.isMissing) throw Object.assign(new Error('missing'), { fault: 'missing' });
          await answer();
          if (store.holder === other) throw Object.assign(new Error('lost'), { fault: 'lost' });
          return store.sequence;
        }),
        recreate: fromPromise(async () => {
          said.push('recreated');
          store.isMissing = false;
        }),
      },
      guards: { isFault: (_, { error, fault }) => (error as { fault?: LeaseFault }).fault === fault },
      actions: {
        reportFailure: ({ context: { failures } }) => failures === 0 && said.push('failing'),
        reportStandby: () => said.push('standby'),
        reportTaken: (_, { wasStandby }) => said.push(wasStandby ? 'taken over' : 'taken'),
        reportRenewalFailure: () => said.push('not renewed'),
      },
    }),
    { input: { name: 'one', isUnused } },
  );
  lease.start();
  return { lease, store, said, is: (tag: 'standby' | 'held') => lease.getSnapshot().hasTag(tag) };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('the machine of the lease', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('takes an unused lease at once, counts it from the previous check, and renews it every second', async () => {
    const startedMs = Date.now();
    const { lease, said, is } = contend(Object.assign(createStore(), { answerMs: 200 }));
    await pass(400);
    expect(is('held')).toBe(true);
    expect(lease.getSnapshot().context.stored).toEqual({ sequence: 1, sinceMs: startedMs });
    await pass(1_200);
    expect(lease.getSnapshot().context.stored).toEqual({ sequence: 2, sinceMs: startedMs + 1_400 });
    expect(said).toEqual(['taken']);
  });

  it('waits as a standby while another one renews, and takes over six seconds after the last renewal that it saw', async () => {
    const { store, said, is } = contend(Object.assign(createStore(), { sequence: 1, holder: other }));
    await pass(3_000);
    store.sequence++;
    expect(is('standby')).toBe(true);
    // Seen at the next look.
    await pass(6_000);
    expect(is('standby')).toBe(true);
    await pass(1_000);
    expect(is('held')).toBe(true);
    expect(said).toEqual(['standby', 'taken over']);
  });

  it('takes over at the next check when the lease is released', async () => {
    const { store, is } = contend(Object.assign(createStore(), { sequence: 1, holder: other }));
    await pass(500);
    store.holder = null;
    await pass(500);
    expect(is('held')).toBe(true);
  });

  it('starts counting again after failing to read the lease, and logs the failure once', async () => {
    const { store, said, is } = contend(Object.assign(createStore(), { sequence: 1, holder: other }));
    await pass(4_000);
    store.isAway = true;
    await pass(3_000);
    store.isAway = false;
    await pass(6_000);
    expect(is('standby')).toBe(true);
    await pass(1_000);
    expect(is('held')).toBe(true);
    expect(said).toEqual(['standby', 'failing', 'taken over']);
  });

  it('does not take an empty lease at once when it was used before', async () => {
    const { is } = contend(createStore(), false);
    await pass(0);
    expect(is('held')).toBe(true); // Nobody holds it: it was released.
    const gone = contend(Object.assign(createStore(), { holder: other }), false);
    await pass(5_000);
    expect(gone.is('standby')).toBe(true);
    await pass(1_000);
    expect(gone.is('held')).toBe(true);
  });

  it('is lost once another one has it, which a renewal finds out', async () => {
    const { lease, store, is } = contend();
    await pass(0);
    Object.assign(store, { sequence: 9, holder: other });
    await pass(1_000);
    expect(is('held')).toBe(false);
    expect(lease.getSnapshot()).toMatchObject({
      value: 'lost',
      status: 'done',
      output: { fault: { fault: 'lost' } },
    });
  });

  it('stays held while the store is unavailable, and continues from what is stored afterwards', async () => {
    const { lease, store, said } = contend();
    await pass(0);
    store.isAway = true;
    await pass(10_000);
    expect(lease.getSnapshot().matches('held')).toBe(true);
    // The outcome of one of the attempts was unknown: it was stored.
    Object.assign(store, { isAway: false, sequence: 7 });
    await pass(2_000);
    expect(lease.getSnapshot().context.stored.sequence).toBe(8);
    expect(said.filter((one) => one === 'not renewed').length).toBeGreaterThan(3);
  });

  it('has its stream created again when it is missing', async () => {
    const { store, said, is } = contend();
    await pass(0);
    Object.assign(store, { sequence: 0, isMissing: true });
    await pass(2_000);
    expect(said).toContain('recreated');
    expect(is('held')).toBe(true);
  });

  it('is released at once, after a renewal that is under way, or not at all when it was not held', async () => {
    const holder = contend();
    await pass(500);
    holder.lease.send({ type: 'release' });
    await pass(0);
    expect(holder.lease.getSnapshot().value).toBe('released');
    expect(holder.store.replacements.at(-1)).toBe('given back');

    const renewing = contend();
    await pass(900);
    renewing.store.answerMs = 300;
    await pass(200);
    renewing.lease.send({ type: 'release' });
    renewing.lease.send({ type: 'release' });
    expect(renewing.lease.getSnapshot().value).toEqual({ held: { renewing: 'unwanted' } });
    expect(renewing.is('held')).toBe(false);
    await pass(700);
    expect(renewing.lease.getSnapshot().value).toBe('released');
    expect(renewing.store.replacements).toEqual(['held', 'held', 'given back']);

    const standby = contend(Object.assign(createStore(), { sequence: 1, holder: other }));
    await pass(500);
    standby.lease.send({ type: 'release' });
    expect(standby.lease.getSnapshot().value).toBe('released');
    expect(standby.store.replacements).toEqual([]);
  });

  it('is released after an attempt to take it that is under way', async () => {
    const { lease, store } = contend(Object.assign(createStore(), { answerMs: 100 }));
    await pass(150);
    lease.send({ type: 'release' });
    await pass(200);
    expect(lease.getSnapshot().value).toBe('released');
    expect(store.replacements).toEqual(['held', 'given back']);
  });
});
