import { publishMetadata } from '../chain/contracts/collectionContract.ts';
import type { EconomyState } from '../chain/contracts/economyState.ts';
import { drawAction } from '../chain/drawAction.ts';
import type { BlockPlan, EthereumChain } from '../chain/ethereumNode.ts';
import type { Random } from '../world/random.ts';

/** Those who make the chain: owners, a reporter, a keeper and a guardian, whose transactions are mined into blocks. */
export interface Miners {
  mineOne(): Promise<void>;
  /** Blocks of a time that has passed for the chain alone. */
  mineSpan(spanMs: number): Promise<void>;
  /** Replaces the newest `depth` blocks by so many others, into which most of their transactions are mined again. */
  reorganize(depth: number, length: number): Promise<void>;
  /** Publishes metadata of tokens in one block, so many bytes each. */
  mineLargeLogs(logs: number, bytes: number): Promise<void>;
  /** Follows a fork that the service does not know, until what it returns is called. */
  followUnknownFork(): () => Promise<void>;
  /** Mines on the branch that the last reorganization has replaced, until it is the longer one. */
  returnToBranch(): Promise<void>;
}

/** However long it is: fewer than are published at once far behind the tip, and more. */
const blocksOfSpan = [10, 40, 100];

interface MinersOptions {
  readonly chain: EthereumChain;
  readonly random: Random;
  readonly genesis: bigint;
  /** Of the chain. */
  readonly wallMs: () => number;
}

export function createMiners({ chain, random, genesis, wallMs }: MinersOptions): Miners {
  function* drawActions(state: EconomyState, timestamp: bigint) {
    for (let count = random.pick([0, 0, 1, 1, 2, 4]); count > 0; count--)
      yield drawAction(random, state, timestamp, genesis);
  }
  const planBlock = (atMs: number): BlockPlan => ({
    timestamp: BigInt(Math.floor(atMs / 1_000)),
    drawActions,
  });

  return {
    mineOne: () => chain.mine(planBlock(wallMs())),
    mineSpan: async (spanMs) => {
      const count = Math.min(random.pick(blocksOfSpan), Math.floor(spanMs / 60_000));
      const startMs = wallMs() - spanMs;
      for (let number = 1; number <= count; number++)
        await chain.mine(planBlock(startMs + (spanMs * number) / count));
    },
    reorganize: (depth, length) =>
      chain.reorganize(depth, (replaced) => {
        const waiting = replaced.filter(() => !random.oneOf(4));
        return Array.from({ length }, () => ({
          ...planBlock(wallMs()),
          *drawActions(state: EconomyState, timestamp: bigint) {
            yield* waiting.splice(0, random.integer(0, 3));
            yield* drawActions(state, timestamp);
          },
        }));
      }),
    mineLargeLogs: (logs, bytes) =>
      chain.mine({
        ...planBlock(wallMs()),
        *drawActions({ collection }) {
          const tokens = [...collection.owners.keys()].slice(0, logs);
          for (const tokenId of tokens) yield (one) => publishMetadata(one, tokenId, 'x'.repeat(bytes));
        },
      }),
    followUnknownFork: () => {
      const giveUp = chain.followUnknownFork();
      return () => giveUp(() => planBlock(wallMs()));
    },
    returnToBranch: () => chain.returnToBranch(() => planBlock(wallMs())),
  };
}
