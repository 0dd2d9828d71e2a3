import type { ChainLog } from '../../../actors/chain/spans/chainSpan.ts';
import { operator } from '../chain/contracts/settings.ts';
import { onChain } from '../chain/deployment.ts';
import { payloadBytesMax } from '../nats/memoryPort.ts';
import type { ServiceProcess } from '../processes/simulatedService.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import type { Reference } from './compareWithReference.ts';
import { findDifference, SimulationFailure } from './failure.ts';

/** The indexer asks again within a minute after a failure. */
const askedMs = 75_000;
const againMs = 1_000;

/** Checks that the published chain equals the node's: logs block by block through the tip, and proposers of the timelock. */
export async function checkIndexed(
  world: SimulatedWorld,
  process: ServiceProcess,
  follow: () => Reference,
): Promise<void> {
  const untilMs = world.time.nowMs() + askedMs;
  for (;;) {
    // A process that shows no chain would agree with everything.
    const difference = compareIndexed(world, follow()) ?? (await explainUnavailable(process));
    if (difference === null) return;
    if (world.time.nowMs() > untilMs) throw new SimulationFailure('honest index', difference);
    await world.sleep(againMs);
  }
}

async function explainUnavailable(process: ServiceProcess): Promise<string | null> {
  const body = String((await process.get('/v1/mining/state'))?.body);
  return body.includes('"status":"available"') ? null : `${process.name} shows no chain: ${body}`;
}

function compareIndexed({ chain }: SimulatedWorld, reference: Reference): string | null {
  if (reference.chain === null) return 'no chain is configured';
  const { indexed } = reference.chain;
  const expected = [
    { indexedThrough: chain.tip.number, proposers: [{ account: operator, isGranted: true }] },
    ...chain.blocks
      .slice(Number(onChain.chain.deploymentBlock))
      .filter(({ events }) => events.length > 0)
      .map(({ number, hash, timestamp, logs }) => ({
        number,
        hash,
        timestampMs: Number(timestamp) * 1_000,
        logs: logs.map(cutLog),
      })),
  ];
  const found = [
    { indexedThrough: indexed.indexedThrough, proposers: indexed.proposers },
    ...indexed.blocks
      .filter(({ logs }) => logs.length > 0)
      .map(({ number, hash, timestampMs, logs }) => ({
        number,
        hash,
        timestampMs,
        logs: logs.map(selectMembers),
      })),
  ];
  return findDifference(expected, found);
}

/** MESSAGES.md, Chain span: of a log that no message can hold, the first 2,048 bytes are published. */
const cutLog = (log: ChainLog): ChainLog =>
  log.data.length < payloadBytesMax ? log : { ...log, data: `0x${log.data.slice(2, 2 + 2 * 2_048)}` };

const selectMembers = (log: Readonly<Record<string, unknown>>) => {
  const { address, topics, data, transactionHash, transactionIndex, logIndex } = log;
  return { address, topics, data, transactionHash, transactionIndex, logIndex };
};
