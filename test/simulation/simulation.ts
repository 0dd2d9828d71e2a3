import type { Session } from 'chdb';
import type { Deployment } from '../../deploy/configuration/deploymentFile.ts';
import { onChain } from './chain/deployment.ts';
import { createEthereumChain } from './chain/ethereumNode.ts';
import { checkDivergences } from './checks/checkDivergences.ts';
import { checkIndexed } from './checks/checkIndexed.ts';
import { checkRejections } from './checks/checkRejections.ts';
import { checkReleased } from './checks/checkReleased.ts';
import { checkSaved } from './checks/checkSaved.ts';
import { checkStored } from './checks/checkStored.ts';
import { clockPaths, comparedPaths } from './checks/comparedPaths.ts';
import { compareWithReference, followStreams } from './checks/compareWithReference.ts';
import { SimulationFailure } from './checks/failure.ts';
import { observeLineages } from './checks/lineageObserver.ts';
import { observeReadiness } from './checks/readyObserver.ts';
import type { Plan } from './plan/plan.ts';
import { createFleet } from './processes/simulatedFleet.ts';
import { createRecovery } from './run/recovery.ts';
import { storm } from './run/storm.ts';
import { createMiners } from './workload/blockMiners.ts';
import { createClients } from './workload/clients.ts';
import { createGateways } from './workload/gateways.ts';
import { startListeners } from './workload/listeners.ts';
import { createSettlementPublishers } from './workload/settlementPublishers.ts';
import { createWorld, type SimulatedWorld } from './world/createWorld.ts';

const genesisMs = Date.UTC(2026, 0, 31, 12);
const genesis = BigInt(genesisMs / 1_000);

const deployment: Deployment = {
  installationId: 'wheel.one',
  genesisTimestamp: genesisMs / 1_000,
  streamId: `0x${'0'.repeat(64)}`,
  maximumSpeedMmPerSecond: 3_000,
  onChain,
};

/** After each of them something else is stale. */
const silencesMs = [60_000, 130_000, 620_000, 1_230_000];

/** Published messages are folded everywhere within this time. */
const foldedMs = 5_000;

interface SimulationOptions {
  readonly plan: Plan;
  /** The embedded ClickHouse, which one world at a time may use. */
  readonly engine: Session;
  readonly onLog?: (line: string) => void;
  readonly onTrace?: (line: string) => void;
  /** Called with the kind of each fault. */
  readonly onFault?: (kind: string) => void;
}

/** Runs a plan until it is done or a check fails. */
export async function simulate(options: SimulationOptions) {
  const { plan, engine, onLog, onTrace = () => undefined, onFault = () => undefined } = options;
  const startMs = genesisMs - plan.beforeGenesisMs;
  const chain = await createEthereumChain(genesis, genesis - 3_600n);
  const world = createWorld(plan.seed, startMs, chain, engine);
  world.nats.store.isReplicated = plan.isReplicated ?? false;
  const outcome = { failure: null as Error | null };
  const note = (text: string) => onTrace(`${(world.time.nowMs() / 1_000).toFixed(3)} ${text}`);
  let isOver = false;
  const fail = (error: unknown) => {
    outcome.failure ??= error instanceof Error ? error : new Error(String(error));
    isOver = true;
  };
  const onUnhandled = (error: unknown) =>
    fail(
      error instanceof SimulationFailure
        ? error
        : new SimulationFailure('process', `${world.time.domain.name}: ${describe(error)}`),
    );
  process.on('unhandledRejection', onUnhandled);
  process.on('uncaughtException', onUnhandled);

  const outside = (name: string) => ({ random: world.random.fork(name), wallMs: world.time.wallMs });
  const miners = createMiners({ chain, ...outside('miners') });
  if (startMs > genesisMs) await miners.mineSpan(startMs - genesisMs);

  const drive = async () => {
    const gateways = createGateways({ nats: world.nats, ...outside('gateways') });
    const publishers = createSettlementPublishers({
      nats: world.nats,
      genesisMs,
      counterEpoch: gateways.counterEpoch,
      ...outside('pipeline'),
    });
    const fleet = createFleet({
      world,
      deployment,
      onEnded: (process, error) => {
        note(`${process.name} has ended: ${describe(error)}`);
        if (!isExpectedEnd(error))
          fail(new SimulationFailure('process', `${process.name} ended: ${describe(error)}`));
      },
      ...(plan.snapshotMs !== undefined && {
        settings: { snapshots: { intervalMs: plan.snapshotMs, messages: 500_000 } },
      }),
      ...(onLog && { onLog }),
    });
    const clients = createClients(world, fleet);
    const listeners = startListeners({ world, fleet, onFailure: fail });
    const ready = observeReadiness(world);
    const hasJump = plan.episodes.some(({ faults }) =>
      faults.some(({ fault }) => fault.kind === 'clockJump'),
    );
    const lineages = observeLineages(world, { isClockRight: !hasJump, onFailure: fail });
    const recovery = createRecovery(world, fleet, miners);
    const random = world.random.fork('silences');
    const follow = followStreams(world, deployment);
    await fleet.start('run');

    const everySecond = async () => {
      while (!isOver) {
        await world.sleep(1_000);
        gateways.flush();
        publishers.flush();
        ready.note();
        lineages.note();
        fleet.replaceEnded();
        for (const process of fleet.alive) ready.check(process);
      }
    };
    everySecond().catch(fail);
    clients.run(() => isOver).catch(fail);

    let wasHistoryLost = false;
    for (const [number, episode] of plan.episodes.entries()) {
      let isHistoryLost = false;
      note(`episode ${number}`);
      await storm(episode, number, {
        world,
        deployment,
        fleet,
        gateways,
        publishers,
        miners,
        onFault,
        isOver: () => isOver,
        note,
        onHistoryLost: () => {
          isHistoryLost = true;
          wasHistoryLost = true;
          listeners.distrust();
        },
      });
      note('calm');
      await recovery.wait(() => isOver);
      // Messages that clients read before the loss was known everywhere may be gone.
      if (isHistoryLost) {
        clients.restart();
        listeners.restart();
      }
      if (!wasHistoryLost) await checkDivergences(fleet.alive);
      const { accepted, rejected } = follow();
      checkStored(world.clickHouse, accepted, genesisMs);
      checkRejections(world.nats.store, 'MINER_COUNTER', rejected.counter);
      checkRejections(world.nats.store, 'MINER_PIPELINE', rejected.pipeline);
      // The indexer publishes only spans that link.
      checkRejections(world.nats.store, 'MINER_CHAIN', []);
      clients.check(accepted);
      note(`checked: ${accepted.length} readings, ${rejected.counter.length} rejections`);
      const processes = recovery.listCurrent();
      const [first] = processes;
      if (first === undefined) return;
      await checkIndexed(world, first, follow);
      // A replica of an earlier version lacks rows.
      const newest = processes.find(({ domain }) => domain.versions === world.time.versions);
      await listeners.check(newest ?? first);
      await compareWithReference(processes, world, follow, comparedPaths);
      // The same again after a silence.
      world.time.sleepAll(random.pick(silencesMs));
      await compareWithReference(processes, world, follow, clockPaths);
      await checkReleased(world, processes, async () => {
        gateways.publishOne();
        publishers.publishOne();
        await miners.mineOne();
        await world.sleep(foldedMs);
      });
    }
    await checkSaved(world, fleet.alive);
  };

  drive().then(() => {
    isOver = true;
  }, fail);
  await world.time.advance(() => isOver).catch(fail);
  process.off('unhandledRejection', onUnhandled);
  process.off('uncaughtException', onUnhandled);
  return {
    failure: outcome.failure,
    /** Time by the processes' clocks. */
    ranMs: world.time.nowMs(),
    /** Includes the time that the machine slept. */
    passedMs: world.time.nowMs() + world.time.asleepMs,
    messages: countMessages(world),
    /** Equal for runs with the same messages at the same times. */
    fingerprint: world.fingerprint(),
  };
}

/** Whether a process ended because another one took its place. */
function isExpectedEnd(error: unknown): boolean {
  return error instanceof Error && ['LeaseLost', 'EpochSuperseded'].includes(error.name);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function countMessages({ nats }: SimulatedWorld): number {
  return [...nats.store.streams.values()].reduce((sum, { lastSequence }) => sum + lastSequence, 0);
}
