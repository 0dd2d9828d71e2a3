import { catchError, concatWith, defer, map, NEVER, Observable, of } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import {
  assign,
  createActor,
  fromCallback,
  fromEventObservable,
  fromObservable,
  fromPromise,
  type SnapshotFrom,
  setup,
} from 'xstate';
import { ingestMachine } from '../../machines/ingestMachine.ts';
import type { LeaseObservation } from '../../machines/leaseMachine.ts';
import { leaseMachine } from '../../machines/leaseMachine.ts';
import {
  createServiceMachine,
  type DatabaseReach,
  type Members,
  type NatsEvent,
  type ServerName,
  type ServiceMachine,
} from '../../machines/serviceMachine.ts';
import { runMembers } from '../../streams/operators/runMember.ts';
import { useVirtualTime } from '../support/fakeTimers.ts';

const other = { host: 'other', pid: 2 };
/** The epoch that a test's writer begins. */
const begunEpoch = 5;

interface TestWork {
  readonly members: Members;
}

/** A service whose parts are all simulated. `done` lists their work, in order. */
function start({
  writes = true,
  serves = true,
  isHeldElsewhere = false,
  /** Work that lasts until a test ends it. */
  hangs = [] as readonly string[],
  /** Number of failures, by work. */
  fails = {} as Readonly<Record<string, number>>,
  /** The server whose port is taken. */
  takenPort = '',
  /** A part whose own code throws. */
  broken = '',
} = {}) {
  const done: string[] = [];
  const cancelled = new Set<string>();
  const failuresLeft: Record<string, number> = { ...fails };
  const settle = new Map<string, { resolve: () => void; reject: (error: Error) => void }>();
  const store = { sequence: 1, holder: isHeldElsewhere ? other : null };

  /** Work that ends at once, or when a test ends it. */
  async function play(name: string): Promise<void> {
    done.push(name);
    const left = failuresLeft[name] ?? 0;
    if (left > 0) {
      failuresLeft[name] = left - 1;
      throw Object.assign(new Error(`${name} failed`), name === 'migrate' && { kind: 'unusable' });
    }
    if (hangs.includes(name))
      await new Promise<void>((resolve, reject) => settle.set(name, { resolve, reject }));
  }
  const breakIf = (name: string) => {
    if (name === broken) throw new Error('broken');
  };
  const work = <Output, Input>(name: string, output?: Output) =>
    fromPromise<Output, Input>(async ({ signal }) => {
      signal.addEventListener('abort', () => cancelled.add(name));
      await play(name);
      return output as Output;
    });
  const workOfEpoch = (name: string) =>
    fromPromise<void, { readonly epoch: number }>(async ({ input: { epoch } }) => {
      if (epoch !== begunEpoch) throw new Error(`${name} in epoch ${epoch}`);
      await play(name);
    });
  const ignore = () => undefined;

  const lease = leaseMachine.provide({
    actors: {
      observe: fromPromise(async (): Promise<LeaseObservation> => {
        const nowMs = Date.now();
        return { ...store, hasHolderEnded: false, askedAtMs: nowMs, answeredAtMs: nowMs };
      }),
      replace: fromPromise(async ({ input: { holds } }) => {
        await play(holds ? 'take lease' : 'give lease back');
        store.sequence++;
        return { sequence: store.sequence, sinceMs: Date.now() };
      }),
      verify: fromPromise(async (): Promise<number> => {
        throw Object.assign(new Error('lost'), { kind: 'leaseLost' });
      }),
    },
    actions: {
      reportFailure: ignore,
      reportStandby: ignore,
      reportTaken: () => breakIf('lease'),
      reportRenewalFailure: ignore,
    },
  });
  const ingest = ingestMachine.provide({
    actors: {
      lease,
      checkStored: work('check what is stored'),
      identify: work('identify', { name: 'one', isUnused: true as boolean }),
      ensureStreams: work('ensure streams'),
      migrate: work('migrate'),
      beginEpoch: work('begin epoch', begunEpoch),
      prepareRows: workOfEpoch('prepare rows'),
      checkEpoch: workOfEpoch('check epoch'),
    },
    actions: {
      reportFailure: () => breakIf('ingest'),
      reportGrant: ignore,
    },
  });
  const member = setup({
    types: {} as {
      context: { readonly fault: unknown; readonly graceMs: number };
      events: { type: 'stopped'; graceMs: number };
    },
    actors: { work: work<void, unknown>('follow'), drain: work<void, unknown>('drain') },
    actions: {
      noteStop: ignore,
      noteFault: assign((_, { error }: { error: unknown }) => {
        breakIf('follower');
        return { fault: error };
      }),
    },
    delays: { grace: ({ context }) => context.graceMs },
  }).createMachine({
    context: { fault: null, graceMs: 0 },
    initial: 'running',
    states: {
      running: {
        invoke: {
          src: 'work',
          onDone: 'ended',
          onError: {
            target: 'ended',
            actions: { type: 'noteFault', params: ({ event: { error } }) => ({ error }) },
          },
        },
        on: {
          stopped: {
            actions: ['noteStop', assign({ graceMs: ({ event }) => event.graceMs })],
            target: 'draining',
          },
        },
      },
      draining: {
        invoke: { src: 'drain', onDone: 'ended', onError: 'ended' },
        after: { grace: 'ended' },
      },
      ended: { type: 'final' },
    },
    output: ({ context }) => ({ fault: context.fault }),
  });
  const indexer = member.provide({
    actors: { work: work('index'), drain: work('finish indexing') },
    actions: { noteStop: () => done.push('end indexer') },
  });
  const otherMember = member.provide({
    actors: { work: fromPromise<void>(() => new Promise(ignore)), drain: work('drain other') },
  });
  const members = new Map([
    ['indexer', { logic: indexer, input: undefined, graceMs: 400 }],
    ['one', { logic: member, input: undefined, graceMs: 5_000 }],
    ['other', { logic: otherMember, input: undefined, graceMs: 5_000 }],
  ]);
  const server = fromCallback<{ type: 'leave' }, ServerName>(({ sendBack, receive, input: name }) => {
    if (name === 'public') breakIf('public server');
    receive(({ type }) => done.push(`${type} ${name} server`));
    if (!hangs.includes(`bind ${name} server`))
      sendBack(
        takenPort === name
          ? { type: 'faulted', error: new Error(`${name} is taken`) }
          : { type: 'bound', server: name, port: 1 },
      );
    return () => done.push(`close ${name} server`);
  });
  const root = createActor(
    createServiceMachine<TestWork>(serves).provide({
      actors: {
        operatorServer: server,
        publicServer: server,
        nats: fromEventObservable(() =>
          defer(() => play('connect')).pipe(
            catchError(() => of(breakIf('NATS'))),
            map((): NatsEvent => ({ type: 'natsChanged', isConnected: true })),
            concatWith(NEVER),
          ),
        ),
        group: runMembers,
        databaseWatch: fromObservable((): Observable<DatabaseReach> => NEVER),
        ingest,
        watchConditions: fromObservable(() => {
          done.push('watch conditions');
          return NEVER;
        }),
        upkeep: fromObservable(({ input: { work } }) => {
          done.push(work.members === members ? 'upkeep' : 'upkeep of something else');
          return new Observable<never>(() => () => cancelled.add('upkeep'));
        }),
        compose: fromPromise(async ({ input: { grant } }): Promise<TestWork> => {
          await play('compose');
          if (grant.epoch !== (writes ? begunEpoch : null)) throw new Error('composed in another epoch');
          return { members };
        }),
        closeNats: work('close NATS'),
        closeDatabase: work('close database'),
      },
    }),
    { input: { writes } },
  );
  root.start();
  return {
    root,
    done,
    cancelled,
    store,
    failNext: (name: string) => {
      failuresLeft[name] = 1;
    },
    resolve: (name: string) => settle.get(name)?.resolve(),
    reject: (name: string, error: Error) => settle.get(name)?.reject(error),
    isIn: (state: keyof typeof states) => states[state](root.getSnapshot()),
    ingest: () => root.getSnapshot().children.ingest?.getSnapshot(),
    /** How it goes or ended, and the fault. */
    course: () => {
      const { value, context } = root.getSnapshot();
      return [value.course, (context.fault?.error as Error | undefined)?.message];
    },
    count: (step: string) => done.filter((one) => one === step).length,
    last: (count: number) => done.slice(-count),
    /** Stops the service; returns its last steps and their duration. */
    stop: async () => {
      const from = done.length;
      const startedMs = Date.now();
      root.send({ type: 'stop' });
      root.send({ type: 'stop' });
      while (root.getSnapshot().status === 'active' && Date.now() - startedMs < 30_000) await pass(50);
      const steps = done.slice(from);
      return { steps, tookMs: Date.now() - startedMs, state: root.getSnapshot().value.course };
    },
  };
}

type Snapshot = SnapshotFrom<ServiceMachine<TestWork>>;
const states = {
  starting: (snapshot: Snapshot) =>
    snapshot.matches({ course: { online: 'connecting' } }) ||
    snapshot.matches({ course: { online: { claimed: 'preparing' } } }),
  running: (snapshot: Snapshot) =>
    snapshot.matches({ course: { online: { claimed: { working: 'running' } } } }),
  stopping: (snapshot: Snapshot) => snapshot.hasTag('stopping'),
};
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const working = ['follow', 'index', 'finish indexing'];
/** Steps of a stop of a process that ingests and indexes, in order. */
const fullStop = [
  ...['close public server', 'end indexer', 'finish indexing', 'drain', 'drain other'],
  ...['give lease back', 'close NATS', 'close database', 'close operator server'],
];
/** Steps of a stop of a process that has not begun to work. */
const closing = ['close public server', 'close NATS', 'close database', 'close operator server'];
const closingWithLease = closing.toSpliced(1, 0, 'give lease back');

describe('the machine of the service', () => {
  useVirtualTime();

  it('prepares, runs, and stops in order: requests, followers, indexer, lease, NATS, database, operators’ port', async () => {
    const { root, done, cancelled, isIn, resolve, stop, ingest } = start({ hangs: working });
    expect(isIn('starting')).toBe(true);
    await pass(10);
    expect(isIn('running')).toBe(true);
    expect(done).toEqual([
      ...['connect', 'watch conditions', 'identify', 'take lease', 'ensure streams'],
      ...['migrate', 'begin epoch', 'prepare rows', 'compose', 'index', 'follow', 'upkeep'],
    ]);
    expect(root.getSnapshot().context.ports).toEqual({ operator: 1, public: 1 });
    expect(ingest()?.context).toMatchObject({ name: 'one', isUnused: true, epoch: begunEpoch });
    expect(cancelled.has('upkeep')).toBe(false);
    resolve('finish indexing');
    expect(await stop()).toMatchObject({ steps: fullStop, state: 'stopped' });
    expect(cancelled.has('upkeep')).toBe(true);
  });

  it.each([
    ['NATS', { connect: 1 }],
    ['public server', {}],
    ['ingest', { identify: 1 }],
    ['lease', {}],
    ['follower', { follow: 1 }],
  ])('ends with the fault of a broken part: %s', async (broken, fails) => {
    const { course } = start({ broken, fails, hangs: ['index'] });
    await pass(3_000);
    expect(course()).toEqual(['failed', 'broken']);
  });

  it('leaves for the given time and then stops, or stops at once after a fault', async () => {
    const leaving = start({ hangs: working });
    await pass(10);
    leaving.root.send({ type: 'leave', drainMs: 5_000 });
    await pass(4_900);
    expect([leaving.isIn('running'), leaving.root.getSnapshot().hasTag('leaving')]).toEqual([true, true]);
    await pass(200);
    expect(leaving.isIn('stopping')).toBe(true);
    leaving.resolve('finish indexing');
    await pass(1_000);
    expect(leaving.course()).toEqual(['stopped', undefined]);

    const failing = start({ hangs: working });
    await pass(10);
    failing.root.send({ type: 'leave', drainMs: 5_000 });
    failing.reject('index', new Error('a fault'));
    await pass(1_000);
    expect(failing.course()).toEqual(['failed', 'a fault']);
    await pass(5_000);
  });

  it('tells clients to connect elsewhere once it leaves, and has no public server if it does not serve', async () => {
    const { root, done, stop } = start({ hangs: working });
    await pass(10);
    const said = () => done.filter((one) => one.endsWith('public server'));
    expect(said()).toEqual([]);
    root.send({ type: 'leave', drainMs: 5_000 });
    root.send({ type: 'leave', drainMs: 5_000 });
    expect(said()).toEqual(['leave public server']);
    await stop();
    expect(said()).toEqual(['leave public server', 'close public server']);

    const ingesting = start({ hangs: working, serves: false });
    await pass(10);
    expect(ingesting.isIn('running')).toBe(true);
    expect((await ingesting.stop()).steps).toEqual(fullStop.slice(1));
  });

  it('waits for both ports, even if it leaves meanwhile', async () => {
    const { root, done, stop } = start({ hangs: ['bind operator server'] });
    root.send({ type: 'leave', drainMs: 5_000 });
    await pass(10);
    expect(done).toEqual(['leave public server']);
    await stop();
    expect(done).not.toContain('connect');
  });

  it.each(['public', 'operator'] as const)(
    'ends at the start if the %s port is taken, and closes the other one',
    async (taken) => {
      const { course, done } = start({ takenPort: taken });
      await pass(10);
      expect(course()).toEqual(['failed', `${taken} is taken`]);
      expect(done.toSorted()).toEqual(['close database', 'close operator server', 'close public server']);
    },
  );

  it('needs no lease in a read replica', async () => {
    const { done, ingest, stop } = start({ writes: false, hangs: working });
    await pass(10);
    expect(ingest()?.context.grant).toEqual({ epoch: null });
    expect(done).not.toContain('take lease');
    expect((await stop()).steps).not.toContain('give lease back');
  });

  it('stops even if neither NATS nor the database can be closed', async () => {
    const { stop } = start({ hangs: working.slice(0, 2), fails: { 'close NATS': 1, 'close database': 1 } });
    await pass(10);
    expect(await stop()).toMatchObject({ steps: fullStop, state: 'stopped', tookMs: 50 });
  });

  it('waits for each hanging part only for its grace period', async () => {
    const { stop } = start({ hangs: [...working, 'give lease back', 'close NATS', 'close database'] });
    await pass(10);
    const { tookMs, state } = await stop();
    // The indexer, the lease, NATS, 0.4 s each; the database 1 s.
    expect([Math.round(tookMs / 100), state]).toEqual([22, 'stopped']);
  });

  it.each([
    ['NATS is unavailable', { hangs: ['connect'] }, closing],
    ['the database does not answer', { hangs: ['identify'] }, closing],
    ['the database is asked again later', { fails: { identify: 99 } }, closing],
    ['another process ingests', { isHeldElsewhere: true }, closing],
    ['the database is migrated', { hangs: ['migrate'] }, closingWithLease],
    ['lost rows are left out', { hangs: ['prepare rows'] }, closingWithLease],
    ['followers are built', { hangs: ['compose'] }, closingWithLease],
  ])('is stopped at once while %s', async (_, settings, steps) => {
    const { stop, isIn } = start(settings);
    await pass(100);
    expect(isIn('starting')).toBe(true);
    expect(await stop()).toMatchObject({ steps, state: 'stopped', tookMs: 50 });
  });

  it('waits as a standby, and ingests once the lease is free', async () => {
    const { ingest, store, isIn } = start({ isHeldElsewhere: true, hangs: working });
    await pass(3_000);
    expect(ingest()?.children.lease?.getSnapshot().hasTag('standby')).toBe(true);
    expect(isIn('starting')).toBe(true);
    store.holder = null;
    await pass(1_000);
    expect(isIn('running')).toBe(true);
    expect(ingest()?.hasTag('granted')).toBe(true);
  });

  it('ends without draining if the lease is lost, also during draining', async () => {
    const running = start({ hangs: working });
    await pass(10);
    running.failNext('take lease');
    await pass(1_000);
    expect(running.course()[1]).toBe('lost');
    await pass(50);
    expect(running.course()[0]).toBe('failed');
    expect(['drain', 'give lease back'].map(running.count)).toEqual([0, 0]);
    expect(running.last(closing.length)).toEqual(closing);
    expect([...running.cancelled].sort()).toEqual(['follow', 'index', 'upkeep']);

    const draining = start({ hangs: [...working, 'drain'] });
    await pass(10);
    draining.root.send({ type: 'stop' });
    await pass(10);
    expect(draining.isIn('stopping')).toBe(true);
    draining.failNext('take lease');
    await pass(1_100);
    expect(draining.course()[0]).toBe('failed');
    expect(draining.cancelled).toContain('drain');
  });

  it('ends if another process has begun a later epoch, and releases the lease', async () => {
    const { root, course, count, ingest } = start({ hangs: working });
    await pass(10);
    const error = new Error('a later epoch');
    root.getSnapshot().children.ingest?.send({ type: 'superseded', error });
    expect(ingest()?.matches({ leasing: 'releasing' })).toBe(true);
    await pass(100);
    expect(course()).toEqual(['failed', 'a later epoch']);
    expect(['drain', 'give lease back'].map(count)).toEqual([0, 1]);
  });

  it('checks every five seconds whether a later epoch has begun, also after failures', async () => {
    const { count, isIn } = start({ hangs: working, fails: { 'check epoch': 1 } });
    await pass(10_100);
    expect(count('check epoch')).toBe(2);
    expect(isIn('running')).toBe(true);
  });

  it.each([
    ['follow', ['drain']],
    ['index', ['end indexer', 'finish indexing']],
  ])('ends in order if %s fails, and the others store their state', async (name, skipped) => {
    const { course, reject, last } = start({ hangs: working });
    await pass(10);
    reject(name, new Error('a fault'));
    await pass(0);
    expect(course()[1]).toBe('a fault');
    await pass(1_000);
    expect(course()[0]).toBe('failed');
    const steps = fullStop.filter((one) => !skipped.includes(one));
    expect(last(steps.length)).toEqual(steps);
  });

  it('ends with the first of two faults', async () => {
    const { course, reject, failNext } = start({ hangs: [...working, 'drain', 'drain other'] });
    await pass(10);
    for (const name of ['index', 'follow']) reject(name, new Error(`a fault of ${name}`));
    await pass(10);
    // The lease is lost while the others store their state.
    failNext('take lease');
    await pass(1_100);
    expect(course()).toEqual(['failed', 'a fault of index']);
  });

  it('ends if its work cannot be built, or the database belongs to a newer program', async () => {
    const unbuilt = start({ fails: { compose: 1 } });
    const tooNew = start({ fails: { migrate: 1 } });
    await pass(1_000);
    expect(unbuilt.course()).toEqual(['failed', 'compose failed']);
    expect(tooNew.course()).toEqual(['failed', 'migrate failed']);
    expect(tooNew.count('give lease back')).toBe(1);
  });

  it.each(['ensure streams', 'migrate', 'begin epoch', 'prepare rows'])(
    'gives the lease back if it cannot %s, and tries again after half a second',
    async (step) => {
      const { count, reject } = start({ hangs: [step] });
      await pass(10);
      reject(step, new Error('unavailable'));
      await pass(499);
      expect(['give lease back', 'identify'].map(count)).toEqual([1, 1]);
      await pass(10);
      expect(count('identify')).toBe(2);
    },
  );

  it('does not retry if it is stopped while the lease is being released', async () => {
    const { root, ingest, course, count, resolve } = start({
      ...{ hangs: ['give lease back'], fails: { 'begin epoch': 1 } },
    });
    await pass(10);
    expect(ingest()?.value).toEqual({ leasing: { releasing: 'retrying' } });
    root.send({ type: 'stop' });
    resolve('give lease back');
    await pass(10);
    expect(['close NATS', 'identify'].map(count)).toEqual([1, 1]);
    expect(course()[0]).toBe('stopped');
  });
});
