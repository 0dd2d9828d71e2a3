import { describe, expect, it, vi } from 'vitest';
import { createActor, fromPromise } from 'xstate';
import type { LeaseHolder } from '../../machines/leaseMachine.ts';
import { leaseMachine } from '../../machines/leaseMachine.ts';
import { useVirtualTime } from '../support/fakeTimers.ts';

const other: LeaseHolder = { host: 'other', pid: 2 };
const us: LeaseHolder = { host: 'here', pid: 1 };

/** A lease in a store, which tests change without notice. Without a message, its holder is unknown. */
const emptyStore = {
  sequence: 0,
  holder: other as LeaseHolder | null,
  hasHolderEnded: false,
  isAway: false,
  /** Number of answers that fail. */
  failuresLeft: 0,
  isMissing: false,
  /** Delay of each answer. */
  answerMs: 0,
};

const held = { sequence: 1 };

function contend(initial: Partial<typeof emptyStore> = {}, isUnused = true) {
  const store = { ...emptyStore, ...initial };
  const said: string[] = [];
  const check = async (name: string) => {
    if (name !== 'one') throw new Error(`${name} is the lease of another database`);
    if (store.answerMs > 0) await new Promise((resolve) => setTimeout(resolve, store.answerMs));
    if (store.isAway || store.failuresLeft-- > 0) throw new Error('unavailable');
  };
  const say =
    (what: string) =>
    (_: unknown, { error }: { error: unknown }) =>
      said.push(`${what}: ${(error as Error).message}`);
  const lease = createActor(
    leaseMachine.provide({
      actors: {
        observe: fromPromise(async ({ input: { name } }) => {
          const askedAtMs = Date.now();
          await check(name);
          const { sequence, holder, hasHolderEnded } = store;
          return { sequence, holder, hasHolderEnded, askedAtMs, answeredAtMs: Date.now() };
        }),
        replace: fromPromise(async ({ input: { name, sequence, holds, sinceMs = Date.now() } }) => {
          await check(name);
          if (sequence !== store.sequence) throw new Error('wrong last sequence');
          said.push(holds ? 'stored' : 'given back');
          store.sequence++;
          store.holder = holds ? us : null;
          return { sequence: store.sequence, sinceMs };
        }),
        verify: fromPromise(async ({ input: { name } }) => {
          if (store.isMissing) throw Object.assign(new Error('missing'), { kind: 'missing' });
          await check(name);
          if (store.holder === other) throw Object.assign(new Error('lost'), { kind: 'leaseLost' });
          return store.sequence;
        }),
        recreate: fromPromise(async () => {
          said.push('recreated');
          store.isMissing = false;
          if (store.isAway) throw new Error('unavailable');
        }),
      },
      actions: {
        reportFailure: ({ context: { isFailing } }, params) => {
          if (!isFailing) say('failing')(null, params);
        },
        reportStandby: () => said.push('standby'),
        reportTaken: (_, { wasStandby }) => said.push(wasStandby ? 'taken over' : 'taken'),
        reportRenewalFailure: say('not renewed'),
      },
    }),
    { input: { name: 'one', isUnused } },
  ).start();
  return {
    lease,
    store,
    said,
    snapshot: () => lease.getSnapshot(),
    is: (tag: 'standby' | 'held') => lease.getSnapshot().hasTag(tag),
  };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('the machine of the lease', () => {
  useVirtualTime();

  it.each([
    ['of a database without any previous ingest', {}, true],
    ['that was released', { ...held, holder: null }, false],
    ['whose holder has ended', { ...held, hasHolderEnded: true }, false],
  ])('takes a lease %s at once', async (_, store, isUnused) => {
    const { said, is } = contend(store, isUnused);
    await pass(0);
    expect([is('held'), said]).toEqual([true, ['stored', 'taken']]);
  });

  it.each<[string, Partial<typeof emptyStore>, boolean, Partial<typeof emptyStore>, number]>([
    ['without a message, of a database with a previous ingest', {}, false, {}, 6_000],
    ['that is not renewed', held, true, {}, 6_000],
    ['that is renewed once more', held, true, { sequence: 2 }, 9_000],
    ['whose message was removed', held, true, { sequence: 0 }, 9_000],
    ['that is released', held, true, { holder: null }, 3_000],
    // Counted from the first answer to the last request: either may have been under way for long.
    ['whose holder is asked for slowly', { ...held, answerMs: 500 }, true, {}, 8_500],
  ])('waits as a standby for a lease %s', async (_, store, isUnused, change, heldAtMs) => {
    const one = contend(store, isUnused);
    await pass(2_500);
    Object.assign(one.store, change);
    await pass(heldAtMs - 2_501);
    expect([one.is('standby'), one.is('held')]).toEqual([true, false]);
    await pass(1);
    expect([one.is('standby'), one.is('held')]).toEqual([false, true]);
    expect(one.said).toEqual(['standby', 'stored', 'taken over']);
  });

  it('counts the lease from the request before it was taken, and renews it every second', async () => {
    const startedMs = Date.now();
    const { said, is, snapshot } = contend({ answerMs: 200 });
    await pass(399);
    expect([is('held'), snapshot().context.stored.sequence]).toEqual([false, 0]);
    await pass(1);
    expect([is('held'), snapshot().context.stored]).toEqual([true, { sequence: 1, sinceMs: startedMs }]);
    await pass(1_100);
    // The lease is held during a renewal.
    expect([is('held'), snapshot().context.stored.sequence]).toEqual([true, 1]);
    await pass(100);
    expect(snapshot().context.stored).toEqual({ sequence: 2, sinceMs: startedMs + 1_400 });
    expect(said).toEqual(['stored', 'taken', 'stored']);
  });

  it('starts counting again after a failure to read the lease, and logs each outage once', async () => {
    const { store, said, is } = contend({ ...held, isAway: true });
    for (const isAway of [false, true, false]) {
      await pass(2_000);
      store.isAway = isAway;
    }
    await pass(6_999);
    expect(is('standby')).toBe(true);
    await pass(1);
    expect(is('held')).toBe(true);
    const failing = 'failing: unavailable';
    expect(said).toEqual([failing, 'standby', failing, 'stored', 'taken over']);
  });

  it.each<[string, Partial<typeof emptyStore>, string, string[]]>([
    ['another process was faster', held, 'wrong last sequence', ['standby']],
    ['the store was unavailable', { isAway: true }, 'unavailable', ['stored', 'taken']],
  ])('retries after a second to take it if %s', async (_, change, why, saidThen) => {
    const { store, said } = contend({ answerMs: 100 });
    await pass(150);
    Object.assign(store, change);
    await pass(50);
    // A failing read that follows is the same outage.
    await pass(1_150);
    store.isAway = false;
    await pass(1_200);
    expect(said).toEqual([`failing: ${why}`, ...saidThen]);
  });

  it('is lost once a renewal finds that another process has it', async () => {
    const { store, said, is, snapshot } = contend();
    await pass(0);
    Object.assign(store, { sequence: 9, holder: other });
    await pass(1_000);
    expect([is('held'), said.at(-1)]).toEqual([false, 'not renewed: wrong last sequence']);
    expect(snapshot()).toMatchObject({
      value: 'lost',
      status: 'done',
      output: { fault: { kind: 'leaseLost' } },
    });
  });

  it('stays held while the store is unavailable, and continues from the stored message', async () => {
    const { store, said, is, snapshot } = contend();
    await pass(0);
    const { sinceMs } = snapshot().context.stored;
    Object.assign(store, { isAway: true, answerMs: 100 });
    for (let heldMs = 0; heldMs < 10_000; heldMs += 50) {
      await pass(50);
      expect(is('held')).toBe(true);
    }
    // One of the attempts with unknown outcome was stored.
    Object.assign(store, { isAway: false, answerMs: 0, sequence: 7 });
    await pass(900);
    expect(snapshot().context.stored).toEqual({ sequence: 7, sinceMs });
    await pass(1_000);
    expect(snapshot().context.stored.sequence).toBe(8);
    expect(said.filter((one) => one === 'not renewed: unavailable').length).toBeGreaterThan(3);
  });

  it.each([false, true])('has a missing stream recreated, even if that fails: %s', async (isAway) => {
    const { store, said, is } = contend();
    await pass(0);
    Object.assign(store, { sequence: 0, isMissing: true, isAway });
    await pass(1_000);
    expect([is('held'), said.at(-1)]).toEqual([true, 'recreated']);
    store.isAway = false;
    await pass(2_000);
    expect([is('held'), said.at(-1)]).toEqual([true, 'stored']);
  });

  it.each<[string, Partial<typeof emptyStore>, number, Partial<typeof emptyStore>, string[]]>([
    ['at once while it is held', {}, 500, {}, ['given back']],
    ['after a renewal in progress', {}, 980, { answerMs: 300 }, ['stored', 'given back']],
    ['after a renewal that fails', {}, 980, { failuresLeft: 1, answerMs: 300 }, ['given back']],
    ['although it cannot be given back', {}, 980, { isAway: true, answerMs: 300 }, []],
    ['after it was taken', { answerMs: 100 }, 110, {}, ['stored', 'given back']],
    ['after it could not be taken', { answerMs: 100 }, 110, held, []],
    ['at once by a standby', held, 500, {}, []],
  ])('is released %s', async (_, store, atMs, change, saidThen) => {
    const one = contend(store);
    await pass(atMs);
    Object.assign(one.store, change);
    await pass(50);
    const { length } = one.said;
    one.lease.send({ type: 'release' });
    one.lease.send({ type: 'release' });
    expect(one.is('held')).toBe(false);
    await pass(900);
    expect(one.snapshot()).toMatchObject({ value: 'released', status: 'done', output: { fault: null } });
    expect(one.said.slice(length)).toEqual(saidThen);
  });
});
