import fc from 'fast-check';
import { oracleSubject, reporterSubject } from '../../../actors/messages/subjects.ts';
import type { Deployment } from '../../../deploy/configuration/deploymentFile.ts';
import { operator, owners } from '../../simulation/chain/contracts/settings.ts';
import { onChain } from '../../simulation/chain/deployment.ts';
import { type Action, drawAction } from '../../simulation/chain/drawAction.ts';
import { type BlockPlan, createEthereumChain } from '../../simulation/chain/ethereumNode.ts';
import type { SealedBlock } from '../../simulation/chain/sealBlock.ts';
import { createMiners } from '../../simulation/workload/blockMiners.ts';
import { createRandom } from '../../simulation/world/random.ts';
import { genesisMs } from '../genesis.ts';
import { inventMeasured } from '../readings/inventMeasured.ts';
import { deriveUuid, readingMessage, toPublication } from '../readings/readingMessages.ts';
import type { ComparedProgram } from './comparedProgram.ts';
import { epochName, oracleBody, reporterBody } from './settlementBodies.ts';

export const worldOwners = owners;

/** A deployment with the contracts of the simulated chain, or with none. */
export const worldDeployment = (hasChain = true): Deployment => ({
  installationId: 'wheel.one',
  genesisTimestamp: genesisMs / 1000,
  streamId: `0x${'5'.repeat(64)}`,
  onChain: hasChain ? onChain : null,
});

const subjectOf = { oracle: oracleSubject('wheel.one'), reporter: reporterSubject('wheel.one') };

/** How far the clocks of device and gateway are ahead of the stream's clock, in milliseconds: a view that shows the wrong time is noticed. */
const clocksAheadMs = { device: -41_500, gateway: 2_750 };

/** A step of a world's history. */
export const worldStep = fc.oneof(
  {
    weight: 8,
    /** Minutes with a reading and a block each. The oracle closes every ended round. */
    arbitrary: fc.record({
      do: fc.constant('live' as const),
      minutes: fc.integer({ min: 1, max: 30 }),
      work: fc.constantFrom<number>(0, 1, 40, 900),
      actions: fc.integer({ min: 0, max: 4 }),
      isClosing: fc.constantFrom(true, true, true, false),
      isCaughtUp: fc.constantFrom(true, true, true, false),
      coreStatus: fc.constantFrom<string>('ACTIVE', 'ACTIVE', 'ACTIVE', 'ACTIVE', 'IDLE', 'COUNTER_FAULT'),
      epoch: epochName,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('reporter' as const), body: reporterBody }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('oracle' as const), body: oracleBody }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('close' as const),
      skipped: fc.nat(1),
      rounds: fc.integer({ min: 1, max: 3 }),
      workUnits: fc.constantFrom<string>('0', '7', '1000000', '1000001', String(2n ** 256n - 1n)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), index: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('reorganize' as const), depth: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.constantFrom<number>(30, 120, 150, 600, 630, 1_200, 1_230, 7_200, 100_000),
    }),
  },
);
type WorldStep = typeof worldStep extends fc.Arbitrary<infer Value> ? Value : never;

/** A world of one wheel, its oracle and reporter, and a chain with an economy. Actions on the chain are drawn from the seed. */
export async function createComparedWorld(program: ComparedProgram, seed: number) {
  const { clock, store, stored } = program;
  const { deploymentBlock, chainId } = onChain.chain;
  const random = createRandom(String(seed));
  const nowSeconds = () => BigInt(Math.floor(clock.nowMs() / 1000));
  const genesis = BigInt(genesisMs / 1000);
  const chain = await createEthereumChain(genesis, nowSeconds() - 60n);
  const miners = createMiners({ chain, random, wallMs: clock.nowMs });
  let published: SealedBlock[] = [];
  let forks = 0;
  const wheel = { readings: 0, counters: new Map<string, number>(), distanceMm: 0, day: 0 };
  let closedThrough = 0;

  /** Publishes the chain: a span for each block, and one for the first blocks. */
  const publishChain = () => {
    const blocks = chain.blocks.slice(Number(deploymentBlock));
    const kept = blocks.findIndex((block, index) => block.hash !== published[index]?.hash);
    if (kept === -1) return;
    if (kept < published.length) forks++;
    const groups = published.length === 0 ? [blocks] : blocks.slice(kept).map((block) => [block]);
    for (const group of groups) store('MINER_CHAIN', `miner.chain.${chainId}.span`, buildSpan(group));
    published = blocks;
  };
  const buildSpan = (group: readonly SealedBlock[]) => {
    const [first, last] = [group[0] as SealedBlock, group.at(-1) as SealedBlock];
    const toTime = (timestamp: bigint) => new Date(Number(timestamp) * 1000).toISOString();
    return {
      core: onChain.contracts.core,
      fork: forks,
      fromBlock: String(first.number),
      toBlock: String(last.number),
      parentHash: first.header.parentHash,
      hash: last.hash,
      timestamp: toTime(last.timestamp),
      blocks: group
        .filter(({ events }) => events.length > 0)
        .map(({ number, hash: blockHash, timestamp, logs }) => ({
          number: String(number),
          hash: blockHash,
          timestamp: toTime(timestamp),
          logs,
        })),
    };
  };
  store('MINER_CHAIN', `miner.chain.${chainId}.reads`, {
    core: onChain.contracts.core,
    blockNumber: String(deploymentBlock - 1n),
    blockHash: (chain.blocks[Number(deploymentBlock) - 1] as SealedBlock).hash,
    proposers: [{ account: operator, isGranted: true }],
  });
  publishChain();

  const planBlock = (actions: number | readonly Action[], timestamp = nowSeconds()): BlockPlan => ({
    timestamp,
    *drawActions(state, at) {
      if (typeof actions !== 'number') return yield* actions;
      for (let index = 0; index < actions; index++) yield drawAction(random, state, at);
    },
  });
  /** Mines one block of drawn or given actions. */
  const mine = async (actions: number | readonly Action[]) => {
    await chain.mine(planBlock(actions));
    publishChain();
  };

  /** Lets the chain grow unread, so that its safe block is close to the clock. */
  const catchUp = async () => {
    const missedSeconds = nowSeconds() - chain.tip.timestamp;
    if (missedSeconds < 120n) return;
    for (let ago = 12n; ago > 0n; ago--)
      await chain.mine(planBlock(0, nowSeconds() - ago * (missedSeconds > 780n ? 60n : missedSeconds / 13n)));
  };

  const read = ({ work, coreStatus, epoch: of }: { work: number; coreStatus: string; epoch: string }) => {
    const day = Math.floor((clock.nowMs() + clocksAheadMs.device - 43_200_000) / 86_400_000);
    if (day !== wheel.day) Object.assign(wheel, { day, distanceMm: 0 });
    wheel.distanceMm += work * 40_000;
    const counter = (wheel.counters.get(of) ?? 0) + work;
    wheel.counters.set(of, counter);
    const toTime = (aheadMs: number) => new Date(clock.nowMs() + aheadMs).toISOString();
    const index = wheel.readings++;
    const simulated = {
      rpmMilli: work * 3,
      speedMmPerSecond: Math.floor(random.next() * 4 * work),
      distanceMm: wheel.distanceMm,
    };
    const { subject, body } = toPublication(
      readingMessage('wheel.one', index, {
        observedAt: toTime(clocksAheadMs.device),
        receivedAt: toTime(clocksAheadMs.gateway),
        counterEpoch: deriveUuid(of),
        cumulativeWorkUnits: String(counter),
        coreStatus: coreStatus as 'IDLE',
        softwareVersion: work === 0 ? null : '1.2.3',
        ...simulated,
        ...inventMeasured(simulated, index),
      }),
    );
    store('MINER_COUNTER', subject, body);
  };

  const say = (who: 'oracle' | 'reporter', body: object) =>
    store('MINER_PIPELINE', subjectOf[who], { at: new Date(clock.nowMs()).toISOString(), ...body });
  const close = (first: number, last: number, readWork: (round: number) => string) => {
    closedThrough = last;
    const acceptedAt = new Date(clock.nowMs()).toISOString();
    const rounds = Array.from({ length: last - first + 1 }, (_, index) => ({
      roundId: String(first + index),
      workUnits: readWork(first + index),
    }));
    const bounds = { firstRound: String(first), lastRound: String(last) };
    say('oracle', { type: 'closure_accepted', ...bounds, rounds, acceptedAt });
  };
  const closeEnded = () => {
    const ended = Math.floor((clock.nowMs() - genesisMs) / 600_000);
    // A closure has 1,008 rounds at most.
    if (ended > closedThrough && ended - closedThrough <= 1_008)
      close(closedThrough + 1, ended, () => String(random.integer(0, 3_000)));
  };

  return {
    random,
    chain,
    mine,
    apply: async (step: WorldStep) => {
      switch (step.do) {
        case 'live':
          if (step.isCaughtUp) await catchUp();
          for (let minute = 0; minute < step.minutes; minute++) {
            clock.advance(60_000);
            read(step);
            await mine(step.actions);
            if (step.isClosing) closeEnded();
          }
          break;
        case 'close':
          close(
            closedThrough + 1 + step.skipped,
            closedThrough + step.skipped + step.rounds,
            () => step.workUnits,
          );
          break;
        case 'again': {
          const { subject, data } = stored.MINER_PIPELINE[step.index % stored.MINER_PIPELINE.length] ?? {};
          if (subject !== undefined && data !== undefined) store('MINER_PIPELINE', subject, data);
          break;
        }
        case 'reorganize':
          await miners.reorganize(step.depth, step.depth + 1);
          publishChain();
          break;
        case 'wait':
          clock.advance(step.seconds * 1_000);
          break;
        default:
          say(step.do, step.body);
      }
    },
    /** Moves to the next multiple of thirty seconds that is at least thirty seconds away: every view, including statistics, is computed again. */
    settle: () => clock.advance(60_000 - (clock.nowMs() % 30_000)),
  };
}
