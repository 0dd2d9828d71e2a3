import type { Deployment } from '../../deploy/deploymentFile.ts';
import { checkRejections } from './checks/checkRejections.ts';
import { checkStored } from './checks/checkStored.ts';
import { compareWithFresh } from './checks/compareWithFresh.ts';
import { SimulationFailure } from './checks/failure.ts';
import { plainCounter } from './checks/plainCounter.ts';
import { plainSettlementRejections } from './checks/plainSettlement.ts';
import { observeReadiness } from './checks/readyObserver.ts';
import { observeTags } from './checks/tagObserver.ts';
import { createWalker } from './checks/walker.ts';
import { applyFault } from './faults/applyFault.ts';
import { createFaultCounts, type FaultCounts } from './faults/faultCounts.ts';
import { applyWeather, clearWeather } from './faults/weather.ts';
import type { Episode, Plan } from './plan/plan.ts';
import { createFleet } from './processes/fleet.ts';
import { createGateways } from './workload/gateways.ts';
import { createSettlementPublishers } from './workload/settlementPublishers.ts';
import { createWorld, type SimulatedWorld } from './world/createWorld.ts';

const genesisMs = Date.UTC(2026, 0, 31, 12);
/** In fair weather everything is caught up by then. */
const recoveryMs = 180_000;

const deployment: Deployment = {
  installationId: 'wheel.one',
  genesisTimestamp: genesisMs / 1_000,
  streamId: `0x${'0'.repeat(64)}`,
  onChain: null,
};

export interface Outcome {
  readonly failure: Error | null;
  readonly counts: FaultCounts;
  /** By the clocks of the processes. */
  readonly ranMs: number;
  /** With the time that the machine was asleep. */
  readonly passedMs: number;
  readonly messages: number;
  /** The same for runs that were the same, message for message. */
  readonly fingerprint: string;
}

export interface SimulationOptions {
  readonly plan: Plan;
  readonly onLog?: (line: string) => void;
  readonly onTrace?: (line: string) => void;
}

/** Runs a plan from its seed, until it is done or something is found. */
export async function simulate({
  plan,
  onLog,
  onTrace = () => undefined,
}: SimulationOptions): Promise<Outcome> {
  const world = createWorld(plan.seed, genesisMs - 600_000);
  const counts = createFaultCounts();
  const outcome = { failure: null as Error | null };
  const note = (text: string) => onTrace(`${(world.time.nowMs() / 1_000).toFixed(3)} ${text}`);
  let asleepMs = 0;
  let isOver = false;
  const fail = (error: unknown) => {
    outcome.failure ??= error instanceof Error ? error : new Error(String(error));
    isOver = true;
  };
  const onUnhandled = (error: unknown) =>
    fail(new SimulationFailure('process', `${world.time.domain.name}: ${describe(error)}`));
  process.on('unhandledRejection', onUnhandled);
  process.on('uncaughtException', onUnhandled);

  const drive = async () => {
    const random = world.random.fork('drive');
    const gateways = createGateways({
      nats: world.nats,
      random: world.random.fork('gateways'),
      wallMs: world.time.wallMs,
    });
    const publishers = createSettlementPublishers({
      nats: world.nats,
      random: world.random.fork('pipeline'),
      wallMs: world.time.wallMs,
    });
    const fleet = createFleet({
      world,
      deployment,
      onEnded: (process, error) => {
        note(`${process.name} has ended: ${describe(error)}`);
        if (!isExpectedEnd(error))
          fail(new SimulationFailure('process', `${process.name} ended: ${describe(error)}`));
      },
      ...(onLog && { onLog }),
    });
    const walkers = ['wheel.one', 'wheel:two'].map(createWalker);
    const ready = observeReadiness(world);
    const tags = observeTags();
    await fleet.start('run');

    const everySecond = async () => {
      while (!isOver) {
        await world.sleep(1_000);
        ready.note();
        fleet.replaceEnded();
        for (const process of fleet.alive) ready.check(process);
      }
    };
    const polls = async () => {
      const client = world.random.fork('clients');
      while (!isOver) {
        await world.sleep(client.integer(200, 3_000));
        const { alive } = fleet;
        if (alive.length === 0) continue;
        const process = client.pick(alive);
        const walker = client.pick(walkers);
        await walker.step(process.get);
        const path = client.pick(polledPaths);
        const response = await process.get(path);
        if (response !== null) tags.note(process.name, path, response);
        if (response !== null && response.status >= 500 && response.status !== 503 && response.status !== 504)
          throw new SimulationFailure(
            'answers',
            `${process.name} ${path}: ${response.status} ${response.body}`,
          );
      }
    };
    everySecond().catch(fail);
    polls().catch(fail);

    /** What clients have read before this is known everywhere may be gone. */
    let isHistoryLost = false;
    for (const [number, episode] of plan.episodes.entries()) {
      note(`episode ${number}`);
      await storm(episode, number);
      note('calm');
      await recover();
      if (isHistoryLost) for (const walker of walkers) walker.restart();
      isHistoryLost = false;
      check();
      await compareWithFresh(currentProcesses(), {
        world,
        deployment,
        paths: comparedPaths,
        lists: comparedLists,
      });
    }

    async function storm(episode: Episode, number: number) {
      const startMs = world.time.nowMs();
      const under: Promise<void>[] = [];
      let isStormy = true;
      applyWeather(world, episode.weather, world.random.fork(`weather ${number}`), counts);
      if (episode.sleepMs > 0) {
        world.time.sleepAll(episode.sleepMs);
        asleepMs += episode.sleepMs;
        gateways.publishSpan(episode.sleepMs);
      }
      const publish = async () => {
        while (isStormy && !isOver) {
          await world.sleep((random.next() * 2_000) / episode.readingsPerSecond);
          gateways.publishOne();
          if (random.oneOf(4)) publishers.publishOne();
        }
      };
      const publishing = publish();
      for (const { atMs, fault } of episode.faults) {
        await world.sleep(Math.max(0, startMs + atMs - world.time.nowMs()));
        note(JSON.stringify(fault));
        counts.note(fault.kind);
        const onHistoryLost = () => {
          isHistoryLost = true;
        };
        under.push(
          applyFault(fault, {
            world,
            fleet,
            random: world.random.fork(`fault ${number} ${atMs}`),
            onHistoryLost,
          }),
        );
      }
      await world.sleep(Math.max(0, startMs + episode.durationMs - world.time.nowMs()));
      await Promise.all(under);
      isStormy = false;
      await publishing;
      clearWeather(world);
    }

    async function recover() {
      await fleet.settled();
      if (!fleet.alive.some((process) => fleet.roleOf(process) === 'run')) await fleet.start('run');
      const endMs = world.time.nowMs() + recoveryMs;
      while (!(isCaughtUp() && (await isStored()))) {
        await world.sleep(500);
        if (isOver) return;
        if (world.time.nowMs() > endMs)
          throw new SimulationFailure('recovery', `after ${recoveryMs} ms: ${describeReadiness()}`);
      }
    }

    /** What is folded is also stored. */
    async function isStored(): Promise<boolean> {
      const writer = fleet.alive.find(
        (process) => fleet.roleOf(process) === 'run' && readinessOf(process).isReady,
      );
      const stored = await writer?.metric('miner_rows_flushed_position{stream="MINER_COUNTER"}');
      if (stored !== world.nats.store.streams.get('MINER_COUNTER')?.lastSequence) return false;
      for (const stream of ['MINER_COUNTER', 'MINER_PIPELINE'])
        if ((await writer?.metric(`miner_rejections_waiting{stream="${stream}"}`)) !== 0) return false;
      return true;
    }

    function describeReadiness(): string {
      return fleet.alive
        .map((process) => `${process.name} ${JSON.stringify(readinessOf(process))}`)
        .join(', ');
    }

    function readinessOf({ domain, service }: (typeof fleet.alive)[number]) {
      return world.time.within(domain, () => service.readiness());
    }

    /** One process ingests, others wait for it or serve; all have folded everything. */
    function isCaughtUp(): boolean {
      const writers = fleet.alive.filter((process) => fleet.roleOf(process) === 'run');
      const others = fleet.alive.filter((process) => fleet.roleOf(process) === 'serve');
      const ready = writers.filter((process) => readinessOf(process).isReady);
      return ready.length === 1 && [...ready, ...others].every(isCurrent);
    }

    function isCurrent(process: (typeof fleet.alive)[number]): boolean {
      const { isReady, detail } = readinessOf(process);
      const { streams } = detail as { streams: Record<string, { position: number }> };
      return (
        isReady &&
        Object.entries(streams).every(
          ([name, { position }]) => position === world.nats.store.streams.get(name)?.lastSequence,
        )
      );
    }

    /** Those that answer from everything that the streams hold; one that waits for the lease has no state. */
    function currentProcesses() {
      return fleet.alive.filter((process) => readinessOf(process).isReady);
    }

    function check() {
      const stream = world.nats.store.streams.get('MINER_COUNTER');
      if (stream === undefined) throw new SimulationFailure('recovery', 'there is no stream of readings');
      const plain = plainCounter(stream.messages.values(), genesisMs);
      checkStored(world.clickHouse, plain);
      checkRejections(world.nats.store, 'MINER_COUNTER', plain.rejected);
      const settlement = world.nats.store.streams.get('MINER_PIPELINE');
      checkRejections(
        world.nats.store,
        'MINER_PIPELINE',
        plainSettlementRejections(settlement?.messages.values() ?? []),
      );
      for (const walker of walkers)
        walker.check(
          plain.accepted
            .filter(({ installationId }) => installationId === walker.installationId)
            .map(({ telemetryId }) => telemetryId),
        );
      note(`checked: ${plain.accepted.length} readings, ${plain.rejected.length} rejections`);
    }
  };

  drive().then(() => {
    isOver = true;
  }, fail);
  await world.time.advanceTo(Number.POSITIVE_INFINITY, () => isOver);
  process.off('unhandledRejection', onUnhandled);
  process.off('uncaughtException', onUnhandled);
  return {
    failure: outcome.failure,
    counts,
    ranMs: world.time.nowMs(),
    passedMs: world.time.nowMs() + asleepMs,
    messages: countMessages(world),
    fingerprint: world.fingerprint(),
  };
}

const polledPaths = [
  '/v1/public/telemetry',
  '/v1/public/installations/wheel:two/telemetry',
  '/v1/status',
  '/v4/public/process',
  '/v2/public/stats?range=7d',
  '/v1/measurement/stats?range=30d',
  '/v1/events',
];

const comparedPaths = [
  '/v1/public/telemetry',
  '/v1/public/installations/wheel:two/telemetry',
  '/v1/public/installations/wheel-three/telemetry',
  '/v1/public/modules',
  '/v1/status',
  '/v4/public/process',
  '/v2/public/stats?range=7d',
  '/v1/measurement/stats?range=30d',
];

const comparedLists = [
  '/v1/public/installations/wheel.one/observations',
  '/v1/public/installations/wheel-three/observations',
  '/v1/events',
];

/** What may end a process: another one took its place. */
function isExpectedEnd(error: unknown): boolean {
  return error instanceof Error && ['LeaseLost', 'EpochSuperseded'].includes(error.name);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function countMessages({ nats }: SimulatedWorld): number {
  return [...nats.store.streams.values()].reduce((sum, { lastSequence }) => sum + lastSequence, 0);
}
