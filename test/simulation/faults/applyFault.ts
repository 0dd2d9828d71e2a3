import type { Deployment } from '../../../deploy/configuration/deploymentFile.ts';
import { isOfUnknownFork } from '../chain/ethereumNode.ts';
import { SimulationFailure } from '../checks/failure.ts';
import { formatNanos } from '../nats/storedStream.ts';
import { type Fault, inputStreams } from '../plan/plan.ts';
import type { Fleet, Role } from '../processes/fleet.ts';
import { runReplayProcess } from '../processes/replayProcess.ts';
import type { ServiceProcess } from '../processes/serviceProcess.ts';
import { createGateways, type Gateways } from '../workload/gateways.ts';
import type { Miners } from '../workload/miners.ts';
import { createSettlementPublishers, type SettlementPublishers } from '../workload/settlementPublishers.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
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
  /** What clients have read may be gone. */
  readonly onHistoryLost: () => void;
}

/** An operator waits no longer for a replay. */
const replayMs = 60_000;
/** A process that ingests has saved a snapshot by then. */
const snapshotMs = 65_000;
const snapshotInsert = 'INSERT INTO fold_snapshots';

/** Makes something go wrong; it may take its time, and is over when this resolves. */
export async function applyFault(fault: Fault, targets: FaultTargets): Promise<void> {
  const { world, deployment, fleet, miners, random, note, onHistoryLost } = targets;
  const { nats, clickHouse, weather } = world;
  const pick = (number: number): ServiceProcess | undefined => {
    const { alive } = fleet;
    return alive[number % Math.max(1, alive.length)];
  };
  switch (fault.kind) {
    case 'kill': {
      const process = pick(fault.process);
      if (process === undefined) return;
      const role = fleet.roleOf(process);
      if (fault.afterSendings > 0) {
        world.crashAfter(process.domain, fault.afterSendings);
        while (process.isAlive) await world.sleep(50);
      }
      process.kill();
      await world.sleep(fault.downMs);
      await fleet.start(role);
      return;
    }
    case 'killBehindInsert': {
      const process = pick(fault.process);
      if (process === undefined) return;
      const role = fleet.roleOf(process);
      const { table, stream = '' } = fault;
      world.crashBehind(
        process.domain,
        (sent) => sent.indexOf(`INSERT INTO ${table}`) === 0 && sent.includes(stream),
      );
      const endMs = world.time.nowMs() + snapshotMs;
      while (process.isAlive && world.time.nowMs() < endMs) await world.sleep(50);
      process.kill();
      await world.sleep(fault.downMs);
      await fleet.start(role);
      return;
    }
    case 'killAndDamageSnapshots': {
      // Nothing would say which NATS is the right one.
      if (nats.store.exchangedAtMs !== null) return;
      const roles = killAll();
      // What they have sent arrives before the disk is looked at.
      await world.sleep(Math.max(fault.downMs, 3_000));
      damageSnapshots(clickHouse, fault.damage, random);
      for (const role of roles) await fleet.start(role);
      return;
    }
    case 'stop': {
      const process = pick(fault.process);
      if (process === undefined) return;
      const role = fleet.roleOf(process);
      await Promise.race([process.stop(), world.sleep(20_000)]);
      process.kill();
      await world.sleep(fault.downMs);
      await fleet.start(role);
      return;
    }
    case 'pause': {
      if (fault.hasStandby) await fleet.start('run');
      const process = fault.hasStandby ? fleet.alive.find(isIngesting) : pick(fault.process);
      if (process === undefined) return;
      if (fault.isSuspended) world.time.suspend(process.domain, fault.forMs);
      else process.domain.resumesAtMs = world.time.nowMs() + fault.forMs;
      return;
    }
    case 'startIngest':
      await fleet.start('run');
      return;
    case 'startReplica':
      await fleet.start('serve');
      return;
    case 'endReplica':
      fleet.alive.find((process) => fleet.roleOf(process) === 'serve')?.kill();
      return;
    case 'clockJump': {
      const process = pick(fault.process);
      if (process !== undefined) process.domain.wallAheadMs += fault.byMs;
      return;
    }
    case 'stopNats':
      nats.stop();
      await world.sleep(fault.forMs);
      nats.start();
      return;
    case 'cutConnections':
      nats.cutConnections();
      return;
    case 'loseTail': {
      const { during = 'run' } = fault;
      onHistoryLost();
      const roles = during === 'run' ? [] : killAll();
      if (during === 'start') {
        for (const role of roles) void fleet.start(role);
        await world.sleep(fault.forMs / 4);
      }
      nats.stop();
      for (const name of inputStreams) {
        const stream = nats.store.streams.get(name);
        stream?.loseAbove(stream.lastSequence - fault.messages);
      }
      if (during !== 'down') await world.sleep(fault.forMs);
      nats.start();
      if (during !== 'down') return;
      // Other messages get the sequences of those that were lost.
      await world.sleep(fault.forMs * 4);
      for (const role of roles) await fleet.start(role);
      return;
    }
    case 'purgeUnread':
      purgeUnread(fault, targets);
      return;
    case 'recreateStream': {
      onHistoryLost();
      const { deleteStream, deleted } = nats.store;
      const before = deleted.length;
      deleteStream(random.pick(inputStreams));
      const lost = deleted.splice(before);
      await world.sleep(fault.acceptedAfterMs ?? 0);
      deleted.push(...lost);
      return;
    }
    case 'wrongNats':
      await exchangeFolder(fault);
      return;
    case 'endConsumers':
      for (const key of [...nats.store.consumers.keys()]) nats.store.removeConsumer(key, false);
      return;
    case 'stallConsumers':
      for (const consumer of nats.store.consumers.values()) consumer.stall();
      return;
    case 'natsFull':
      nats.store.full = 'disk';
      await world.sleep(fault.forMs);
      nats.store.full = new Set();
      return;
    case 'rejectionsFull':
      nats.store.full = new Set(['MINER_REJECTED']);
      await world.sleep(fault.forMs / 2);
      if (fault.hasReplay) note(await replay(0));
      await world.sleep(fault.forMs / 2);
      nats.store.full = new Set();
      return;
    case 'stopClickHouse': {
      const before = weather.fateOfStatement;
      weather.fateOfStatement = () => 'refused';
      await world.sleep(fault.forMs);
      weather.fateOfStatement = before;
      return;
    }
    case 'clickHouseFull': {
      const before = weather.fateOfStatement;
      weather.fateOfStatement = (kind) => (kind === 'write' ? 'refused' : 'answered');
      await world.sleep(fault.forMs);
      weather.fateOfStatement = before;
      return;
    }
    case 'snapshotsRefused': {
      const before = weather.fateOfStatement;
      weather.fateOfStatement = (kind, sql) =>
        sql.startsWith(snapshotInsert) ? 'refused' : before(kind, sql);
      await world.sleep(fault.forMs);
      weather.fateOfStatement = before;
      return;
    }
    case 'merge':
      for (const name of clickHouse.tables.keys()) clickHouse.merge(name);
      return;
    case 'reorganize':
      await miners.reorganize(fault.depth, fault.length);
      return;
    case 'returnToBranch':
      await miners.returnToBranch();
      return;
    case 'nodeAway': {
      const before = weather.fateOfRequest;
      weather.fateOfRequest = () => 'refused';
      await world.sleep(fault.forMs);
      weather.fateOfRequest = before;
      return;
    }
    case 'largeLogs':
      await miners.mineLargeLogs(fault.logs, fault.bytes);
      return;
    case 'unknownFork': {
      const giveUp = miners.followUnknownFork();
      await world.sleep(fault.forMs);
      const unknown = world.chain.blocks.filter(isOfUnknownFork);
      await giveUp();
      const published = [...(nats.store.streams.get('MINER_CHAIN')?.messages.values() ?? [])];
      const believed = unknown.find(({ hash }) => published.some(({ data }) => data.includes(hash)));
      if (believed !== undefined)
        throw new SimulationFailure(
          'honest index',
          `${believed.hash} is published, whose header nobody can hash`,
        );
      return;
    }
    case 'twoPublishers':
      await publishToo(fault.forMs);
      return;
    case 'removeFronts':
      removeFronts(fault, targets);
      return;
    case 'replay':
      note(await replay(fault.afterSendings));
      return;
    case 'upgrade': {
      const ingesting = fleet.alive.filter((process) => fleet.roleOf(process) === 'run');
      for (const process of ingesting) process.kill();
      world.time.upgrade(fault.stream ?? 'MINER_COUNTER');
      await world.sleep(fault.downMs);
      await fleet.start('run');
    }
  }

  function killAll(): Role[] {
    const roles = fleet.alive.map((process) => fleet.roleOf(process));
    for (const process of fleet.alive) process.kill();
    return roles;
  }

  async function exchangeFolder({ forMs, isEmpty, restarts }: Extract<Fault, { kind: 'wrongNats' }>) {
    if (nats.store.exchangedAtMs !== null || !isStored()) return;
    const roles = restarts ? killAll() : [];
    nats.stop();
    const takeOwn = nats.store.exchangeFolder(isEmpty);
    nats.start();
    for (const role of roles) void fleet.start(role);
    await world.sleep(forMs);
    const created = isEmpty ? [...nats.store.streams.keys()] : [];
    if (created.length > 0)
      throw new SimulationFailure('wrong NATS', `${created.join(', ')} was created in an empty NATS`);
    nats.stop();
    takeOwn();
    nats.start();
  }

  async function publishToo(forMs: number) {
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

  /** Whether the database says which streams it was made from. */
  function isStored(): boolean {
    const created = nats.store.streams.get('MINER_COUNTER')?.createdNanos;
    const tables = [...clickHouse.tables.values()].filter(({ name }) => name.startsWith('fold_snapshots'));
    return tables.some(({ rows, indexOf }) => {
      const at = indexOf('stream_created');
      return created !== undefined && rows.some(({ values }) => values[at] === formatNanos(created));
    });
  }

  function isIngesting({ domain, service }: ServiceProcess): boolean {
    return world.time.within(domain, () => service.readiness().isReady);
  }

  async function replay(afterSendings: number): Promise<string> {
    const last = nats.store.streams.get('MINER_COUNTER')?.lastSequence ?? 0;
    const sequence = random.integer(1, Math.max(1, last));
    const request = {
      from: { sequence },
      to: null,
      installationId: null,
      dryRun: false,
      isIncomplete: false,
    };
    const outcome = await runReplayProcess(world, { deployment, request, afterSendings, limitMs: replayMs });
    return `replay from ${sequence}: ${outcome}`;
  }
}
