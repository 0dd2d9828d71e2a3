import type { Deployment } from '../../../deploy/configuration/deploymentFile.ts';
import { isOfUnknownFork } from '../chain/ethereumNode.ts';
import { SimulationFailure } from '../checks/failure.ts';
import { formatNanos } from '../nats/storedStream.ts';
import { type Fault, inputStreams } from '../plan/plan.ts';
import { runReplayProcess } from '../processes/replayProcess.ts';
import type { Fleet } from '../processes/simulatedFleet.ts';
import type { Role, ServiceProcess } from '../processes/simulatedService.ts';
import type { Miners } from '../workload/blockMiners.ts';
import { createGateways, type Gateways } from '../workload/gateways.ts';
import { createSettlementPublishers, type SettlementPublishers } from '../workload/settlementPublishers.ts';
import type { Refusal, SimulatedWorld } from '../world/createWorld.ts';
import type { Random } from '../world/random.ts';
import { damageSnapshots } from './damageSnapshots.ts';
import { purgeUnread } from './purgeUnread.ts';
import { removeFronts } from './removeFronts.ts';

export interface FaultTargets {
  readonly world: SimulatedWorld;
  readonly deployment: Deployment;
  readonly fleet: Fleet;
  readonly gateways: Gateways;
  readonly publishers: SettlementPublishers;
  readonly miners: Miners;
  readonly random: Random;
  readonly note: (text: string) => void;
  /** Called before messages that clients have read may be gone. */
  readonly onHistoryLost: () => void;
}

/** A process that ingests saves a snapshot within this time. */
const snapshotMs = 65_000;

type Strike<Kind extends Fault['kind']> = (fault: Fault<Kind>) => void | Promise<void>;

/** Makes a fault strike. Resolves when it is over. */
export async function applyFault(fault: Fault, targets: FaultTargets): Promise<void> {
  const { world, deployment, fleet, miners, random, note, onHistoryLost } = targets;
  const { nats, clickHouse, weather } = world;
  const { store } = nats;

  const strikes: { readonly [Kind in Fault['kind']]: Strike<Kind> } = {
    kill: (one) =>
      replace(one, async (process) => {
        if (one.afterSendings === 0) return;
        world.crashAfter(process.domain, one.afterSendings);
        while (process.isAlive) await world.sleep(50);
      }),
    killBehindInsert: (one) =>
      replace(one, async (process) => {
        world.crashBehind(process.domain, (sent) => sent.indexOf(`INSERT INTO ${one.table}`) === 0);
        const endMs = world.time.nowMs() + snapshotMs;
        while (process.isAlive && world.time.nowMs() < endMs) await world.sleep(50);
      }),
    stop: (one) => replace(one, (process) => Promise.race([process.stop(), world.sleep(20_000)])),
    killAndDamageSnapshots: async ({ downMs, damage }) => {
      // Without snapshots, a process could not tell which NATS is the right one.
      if (store.exchangedAtMs !== null) return;
      const roles = killAll();
      // Statements that the processes sent arrive before the damage.
      await world.sleep(Math.max(downMs, 3_000));
      damageSnapshots(clickHouse, damage, random);
      for (const role of roles) await fleet.start(role);
    },
    pause: async ({ process: number, forMs, hasStandby, isSuspended }) => {
      if (hasStandby) await fleet.start('run');
      const process = hasStandby ? fleet.alive.find(isIngesting) : pick(number);
      if (process === undefined) return;
      if (isSuspended) world.time.suspend(process.domain, forMs);
      else process.domain.resumesAtMs = world.time.nowMs() + forMs;
    },
    startIngest: async () => void (await fleet.start('run')),
    startReplica: async () => void (await fleet.start('serve')),
    endReplica: () => fleet.alive.find((process) => fleet.roleOf(process) === 'serve')?.kill(),
    upgrade: async ({ downMs, stream = 'MINER_COUNTER' }) => {
      for (const process of fleet.alive) if (fleet.roleOf(process) === 'run') process.kill();
      world.time.upgrade(stream);
      await world.sleep(downMs);
      await fleet.start('run');
    },
    clockJump: ({ process: number, byMs }) => {
      const process = pick(number);
      if (process !== undefined) process.domain.wallAheadMs += byMs;
    },
    stopNats: async ({ forMs }) => {
      nats.stop();
      await world.sleep(forMs);
      nats.start();
    },
    cutConnections: () => nats.cutConnections(),
    loseTail,
    purgeUnread: (one) => purgeUnread(one, targets),
    recreateStream: async ({ acceptedAfterMs = 0 }) => {
      onHistoryLost();
      const before = store.deleted.length;
      const name = random.pick(inputStreams);
      if (store.streams.has(name)) store.deleteStream(name);
      const lost = store.deleted.splice(before);
      await world.sleep(acceptedAfterMs);
      store.deleted.push(...lost);
    },
    wrongNats: exchangeFolder,
    leaderBehind: async ({ forMs, byMs }) => {
      store.behindMs = byMs;
      await world.sleep(forMs);
      store.behindMs = 0;
    },
    twoLeases: async ({ forMs }) => {
      await fleet.start('run');
      store.isLeaseForgotten = true;
      await world.sleep(forMs);
      store.isLeaseForgotten = false;
    },
    endConsumers: () => {
      store.endDeliveries();
    },
    stallConsumers: () => {
      for (const delivery of store.deliveries) delivery.stall();
    },
    natsFull: ({ forMs }) => fill('disk', () => world.sleep(forMs)),
    rejectionsFull: ({ forMs, hasReplay }) =>
      fill(new Set(['MINER_REJECTED']), async () => {
        await world.sleep(forMs / 2);
        if (hasReplay) note(await replay(0));
        await world.sleep(forMs / 2);
      }),
    stopClickHouse: ({ forMs }) => refuse((kind) => kind !== 'request', forMs),
    clickHouseFull: ({ forMs }) => refuse((kind) => kind === 'write', forMs),
    insertsRefused: ({ forMs, table }) =>
      refuse((_, sql = '') => sql.startsWith(`INSERT INTO ${table}`), forMs),
    merge: () => clickHouse.merge(),
    reorganize: ({ depth, length }) => miners.reorganize(depth, length),
    returnToBranch: () => miners.returnToBranch(),
    nodeAway: ({ forMs }) => refuse((kind) => kind === 'request', forMs),
    largeLogs: ({ logs, bytes }) => miners.mineLargeLogs(logs, bytes),
    unknownFork: followUnknownFork,
    twoPublishers: publishToo,
    removeFronts: (one) => removeFronts(one, targets),
    replay: async ({ afterSendings }) => note(await replay(afterSendings)),
  };
  // The kind of a fault names its own strike.
  await (strikes[fault.kind] as Strike<Fault['kind']>)(fault);

  function pick(number: number): ServiceProcess | undefined {
    const { alive } = fleet;
    return alive[number % Math.max(1, alive.length)];
  }

  /** Kills a process when `end` resolves, and starts another one in its place. */
  async function replace(
    { process: number, downMs }: Fault<'stop'> | Fault<'kill'> | Fault<'killBehindInsert'>,
    end: (process: ServiceProcess) => Promise<unknown>,
  ) {
    const process = pick(number);
    if (process === undefined) return;
    const role = fleet.roleOf(process);
    await end(process);
    process.kill();
    await world.sleep(downMs);
    await fleet.start(role);
  }

  async function refuse(isRefused: Refusal, forMs: number) {
    weather.refusals.add(isRefused);
    await world.sleep(forMs);
    weather.refusals.delete(isRefused);
  }

  async function fill(full: typeof store.full, during: () => Promise<void>) {
    store.full = full;
    await during();
    store.full = new Set();
  }

  function killAll(): Role[] {
    const roles = fleet.alive.map((process) => fleet.roleOf(process));
    for (const process of fleet.alive) process.kill();
    return roles;
  }

  async function loseTail({ messages, forMs, during = 'run' }: Fault<'loseTail'>) {
    onHistoryLost();
    const roles = during === 'run' ? [] : killAll();
    if (during === 'start') {
      for (const role of roles) void fleet.start(role);
      await world.sleep(forMs / 4);
    }
    nats.stop();
    for (const name of inputStreams) {
      const stream = store.streams.get(name);
      stream?.loseAbove(stream.lastSequence - messages);
    }
    if (during !== 'down') await world.sleep(forMs);
    nats.start();
    if (during !== 'down') return;
    // Other messages take the lost sequences.
    await world.sleep(forMs * 4);
    for (const role of roles) await fleet.start(role);
  }

  async function followUnknownFork({ forMs }: Fault<'unknownFork'>) {
    const giveUp = miners.followUnknownFork();
    await world.sleep(forMs);
    const unknown = world.chain.blocks.filter(isOfUnknownFork);
    await giveUp();
    const published = [...(store.streams.get('MINER_CHAIN')?.messages.values() ?? [])];
    const believed = unknown.find(({ hash }) =>
      published.some(({ data }) => Buffer.from(data).includes(hash)),
    );
    if (believed !== undefined)
      throw new SimulationFailure(
        'honest index',
        `${believed.hash} was published, but its header has no known hash`,
      );
  }

  async function exchangeFolder({ forMs, isEmpty, restarts }: Fault<'wrongNats'>) {
    if (store.exchangedAtMs !== null || !isStored()) return;
    onHistoryLost();
    const roles = restarts ? killAll() : [];
    nats.stop();
    const takeOwn = store.exchangeFolder(isEmpty);
    nats.start();
    for (const role of roles) void fleet.start(role);
    await world.sleep(forMs);
    const created = isEmpty ? [...store.streams.keys()] : [];
    if (created.length > 0)
      throw new SimulationFailure('wrong NATS', `${created.join(', ')} was created in an empty NATS`);
    nats.stop();
    takeOwn();
    nats.start();
  }

  async function publishToo({ forMs }: Fault<'twoPublishers'>) {
    const { genesisTimestamp } = deployment;
    const outside = (name: string) => ({ nats, random: random.fork(name), wallMs: world.time.wallMs });
    const gateways = createGateways(outside('gateways'));
    const { counterEpoch } = gateways;
    const genesisMs = genesisTimestamp * 1_000;
    const publishers = createSettlementPublishers({ ...outside('publishers'), genesisMs, counterEpoch });
    const endMs = world.time.nowMs() + forMs;
    while (world.time.nowMs() < endMs) {
      gateways.publishOne();
      publishers.publishOne();
      await world.sleep(random.integer(50, 600));
    }
  }

  /** Whether a lineage names the present stream of readings. */
  function isStored(): boolean {
    const created = store.streams.get('MINER_COUNTER')?.createdNanos;
    if (created === undefined) return false;
    const named = 'SELECT 1 FROM lineages WHERE stream_created = {created:String} LIMIT 1';
    return clickHouse.select(named, { created: formatNanos(created) }).length > 0;
  }

  function isIngesting({ domain, service }: ServiceProcess): boolean {
    return world.time.within(domain, () => service.readiness().isReady);
  }

  async function replay(afterSendings: number): Promise<string> {
    const last = store.streams.get('MINER_COUNTER')?.lastSequence ?? 0;
    const sequence = random.integer(1, Math.max(1, last));
    return `replay from ${sequence}: ${await runReplayProcess(world, deployment, { sequence, afterSendings })}`;
  }
}
