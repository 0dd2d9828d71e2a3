import { publishMetadata } from '../chain/contracts/collectionContract.ts';
import type { EconomyState } from '../chain/contracts/contractState.ts';
import { drawAction } from '../chain/drawAction.ts';
import type { BlockPlan, EthereumChain } from '../chain/ethereumNode.ts';
import type { Random } from '../world/random.ts';

/** Mines blocks with transactions of owners, reporter, keeper and guardian. */
export type Miners = ReturnType<typeof createMiners>;

/** Blocks of a span of any length: both fewer and more than one span message holds far behind the tip. */
const blocksOfSpan = [10, 40, 100];

interface MinersOptions {
  readonly chain: EthereumChain;
  readonly random: Random;
  /** The chain's clock. */
  readonly wallMs: () => number;
}

export function createMiners({ chain, random, wallMs }: MinersOptions) {
  function* drawActions(state: EconomyState, timestamp: bigint) {
    for (let count = random.pick([0, 0, 1, 1, 2, 4]); count > 0; count--)
      yield drawAction(random, state, timestamp);
  }
  const planBlock = (atMs: number): BlockPlan => ({
    timestamp: BigInt(Math.floor(atMs / 1_000)),
    drawActions,
  });

  return {
    mineOne: () => chain.mine(planBlock(wallMs())),
    /** Mines the blocks of a span in which only the chain ran. */
    mineSpan: async (spanMs: number) => {
      const count = Math.min(random.pick(blocksOfSpan), Math.floor(spanMs / 60_000));
      const startMs = wallMs() - spanMs;
      for (let number = 1; number <= count; number++)
        await chain.mine(planBlock(startMs + (spanMs * number) / count));
    },
    /** Replaces the newest `depth` blocks by `length` others, which contain most of their transactions. */
    reorganize: (depth: number, length: number) =>
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
    /** Publishes metadata of tokens in one block, each with this many bytes. */
    mineLargeLogs: (logs: number, bytes: number) =>
      chain.mine({
        ...planBlock(wallMs()),
        *drawActions({ collection }) {
          const tokens = [...collection.owners.keys()].slice(0, logs);
          for (const tokenId of tokens) yield (one) => publishMetadata(one, tokenId, 'x'.repeat(bytes));
        },
      }),
    /** Follows an unknown fork until the returned function is called. */
    followUnknownFork: () => {
      const giveUp = chain.followUnknownFork();
      return () => giveUp(() => planBlock(wallMs()));
    },
    /** Mines on the branch that the last reorganization replaced until it is longer. */
    returnToBranch: () => chain.returnToBranch(() => planBlock(wallMs())),
  };
}
