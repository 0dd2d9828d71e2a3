import { onChain } from '../chain/deployment.ts';
import { SimulationFailure } from '../checks/failure.ts';
import type { Fleet } from '../processes/simulatedFleet.ts';
import type { ServiceProcess } from '../processes/simulatedService.ts';
import type { Miners } from '../workload/blockMiners.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';

/** In fair weather everything catches up within this time. */
const recoveryMs = 90_000;
/** A loss of a replicated stream is proven by answers of half a minute, and several losses may follow one another. */
const replicatedRecoveryMs = 240_000;
/** Interval of blocks while it waits. */
const blockMs = 2_000;
/** A reorganization to fewer blocks is followed once there are as many as before. */
const blocksAfterStorm = 4;
/** A safe block that is older than 15 minutes is not shown. */
const safeAgeMs = 600_000;

export function createRecovery(world: SimulatedWorld, fleet: Fleet, miners: Miners) {
  const readinessOf = ({ domain, service }: ServiceProcess) =>
    world.time.within(domain, () => service.readiness());
  const isReady = (process: ServiceProcess) => readinessOf(process).isReady;
  const ofRole = (role: 'run' | 'serve') => fleet.alive.filter((process) => fleet.roleOf(process) === role);
  const lastSequence = (stream: string) => world.nats.store.streams.get(stream)?.lastSequence;

  function isCurrent(process: ServiceProcess): boolean {
    const { streams } = readinessOf(process).detail as { streams: Record<string, { position: number }> };
    return (
      isReady(process) &&
      Object.entries(streams).every(([name, { position }]) => position === lastSequence(name))
    );
  }

  /** One process ingests, others wait for it or serve; all have folded everything. */
  function isCaughtUp(): boolean {
    const ready = ofRole('run').filter(isReady);
    return ready.length === 1 && [...ready, ...ofRole('serve')].every(isCurrent);
  }

  /** Whether everything folded is stored, and everything mined is indexed. */
  async function isStored(): Promise<boolean> {
    const writer = ofRole('run').find(isReady);
    if (writer === undefined) return false;
    const metrics = await writer.metrics();
    const isHeld = (name: string, value: number | undefined) => metrics.get(name) === value;
    const stored = ['MINER_COUNTER', 'MINER_CHAIN'].every((stream) =>
      isHeld(`miner_rows_flushed_position{stream="${stream}"}`, lastSequence(stream)),
    );
    const published = ['MINER_COUNTER', 'MINER_PIPELINE', 'MINER_CHAIN'].every((stream) =>
      isHeld(`miner_rejections_waiting{stream="${stream}"}`, 0),
    );
    return stored && published && isHeld('miner_chain_block{block="head"}', Number(world.chain.tip.number));
  }

  /** Whether the block that will be safe holds the contracts, and is new. */
  function isShown(): boolean {
    const safe = world.chain.blocks.at(-12);
    if (safe === undefined || safe.number <= onChain.chain.economyDeploymentBlock) return false;
    return (
      world.time.within(world.time.outside, world.time.wallMs) - Number(safe.timestamp) * 1_000 < safeAgeMs
    );
  }

  const describe = () =>
    fleet.alive.map((process) => `${process.name} ${JSON.stringify(readinessOf(process))}`).join(', ');

  return {
    /** Resolves once one process ingests and is ready, and everything that the streams hold is folded and stored. */
    wait: async (isOver: () => boolean) => {
      await fleet.settled();
      if (ofRole('run').length === 0) await fleet.start('run');
      const limitMs = world.nats.store.isReplicated ? replicatedRecoveryMs : recoveryMs;
      const endMs = world.time.nowMs() + limitMs;
      for (let block = 0; block < blocksAfterStorm || !isShown(); block++) await miners.mineOne();
      let minedMs = world.time.nowMs();
      while (!(isCaughtUp() && (await isStored()))) {
        await world.sleep(500);
        if (isOver()) return;
        // The chain grows while anything else is behind.
        if (!isCaughtUp() && world.time.nowMs() > minedMs + blockMs) {
          await miners.mineOne();
          minedMs = world.time.nowMs();
        }
        if (world.time.nowMs() > endMs)
          throw new SimulationFailure('recovery', `after ${limitMs} ms: ${describe()}`);
      }
      // Answers depend on the clock, so all processes have the same clock from here on.
      for (const { domain } of fleet.alive) domain.wallAheadMs = 0;
    },
    /** Processes that answer from all messages. A process that waits for the lease has no state. */
    listCurrent: () => fleet.alive.filter(isReady),
  };
}
