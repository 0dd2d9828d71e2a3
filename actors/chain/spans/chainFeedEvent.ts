import type { Arrival } from '../../events/arrival.ts';
import type { Address } from '../../schemas/hex.ts';
import type { EventSource } from './chainEvent.ts';

/** What an event of the feed tells. Amounts, rounds and blocks of work are bigints. */
export type ChainFeedDetails =
  | {
      readonly type: 'system.settlement_completed';
      readonly previousSettledThroughRound: bigint;
      readonly settledThroughRound: bigint;
      readonly activeRoundCount: bigint;
      readonly workAdded: bigint;
      readonly completedBlockCount: bigint;
      /** Null when no block was completed. */
      readonly firstCompletedBlock: bigint | null;
      readonly lastCompletedBlock: bigint | null;
      readonly cumulativeWork: bigint;
      readonly blockHeight: bigint;
      readonly cumulativeBlockUnits: bigint;
    }
  | {
      readonly type: 'system.mining_checkpointed';
      readonly afterRound: bigint;
      readonly throughRound: bigint;
      readonly completedBlockCount: bigint;
      readonly cumulativeWork: bigint;
      readonly amountBaseUnits: bigint;
      readonly cumulativeBlockUnits: bigint;
    }
  | {
      readonly type: 'player.miner_minted';
      readonly owner: Address;
      readonly tokenId: bigint;
      readonly weight: bigint;
      readonly nextMergeBlock: bigint;
      readonly firstRound: bigint;
    }
  | {
      readonly type: 'player.miners_merged';
      readonly owner: Address;
      readonly survivorTokenId: bigint;
      readonly donorTokenId: bigint;
      readonly level: number;
      readonly nextMergeBlock: bigint;
      readonly effectiveRound: bigint;
    }
  | {
      readonly type: 'player.rewards_claimed';
      readonly owner: Address;
      readonly tokenIds: readonly bigint[];
      readonly amountBaseUnits: bigint;
    };

/** An event of the feed that was logged on the chain. */
export interface ChainFeedEvent extends Arrival {
  readonly family: 'chain';
  readonly details: ChainFeedDetails;
  /** Of the contract that logged it. */
  readonly address: Address;
  readonly source: EventSource;
  /** When the span that made it safe was stored (epoch milliseconds). */
  readonly recordedAtMs: number;
}
