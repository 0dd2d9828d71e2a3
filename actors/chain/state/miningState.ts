import type { Map as ImmutableMap, List } from 'immutable';
import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { amount, count, milliseconds } from '../../schemas/stateScalars.ts';
import { address } from '../../schemas/wireScalars.ts';
import { implementation } from './coreState.ts';

const configuration = z.strictObject({
  core: address,
  token: address,
  collection: address,
  /** In base units. */
  rewardPerBlock: amount,
  /** In base units. */
  supplyCap: amount,
  claimLimit: amount,
  /** Level 1 first. */
  levels: z.array(z.strictObject({ weight: amount, cooldownBlocks: amount })),
});

/** Mining state without its keyed lists. */
export const miningScalars = z.strictObject({
  configuration: configuration.nullable(),
  implementation: implementation.nullable(),
  totalWeight: amount,
  /** Reward of one unit of weight since the beginning, scaled by `rewardScale`. */
  accumulatedPerWeight: amount,
  mintedBaseUnits: amount,
  paidBaseUnits: amount,
  processedThroughRound: amount,
  closedThroughBlock: amount,
  lastActivationRound: amount,
  /** Cumulative block units through `processedThroughRound`. */
  processedBlockUnits: amount,
});

export interface MiningState extends Inferred<typeof miningScalars> {
  /** By round: `accumulatedPerWeight` when the weights of the round began to count. */
  readonly perWeightAtActivation: ImmutableMap<string, bigint>;
  /** By activation round: changes of the total weight that do not count yet. */
  readonly pendingWeight: ImmutableMap<string, bigint>;
  /** `accumulatedPerWeight` at the end of each UTC date on which it changed, ascending. */
  readonly perWeightByDate: List<{ readonly date: string; readonly atEnd: bigint }>;
}

/** Weight that counts from one value of `accumulatedPerWeight` to another. The end is null while it still counts. */
const weightSegment = z.strictObject({
  fromPerWeight: amount,
  throughPerWeight: amount.nullable(),
  weight: amount,
});
export type WeightSegment = Inferred<typeof weightSegment>;

export const minerPosition = z.strictObject({
  tokenId: count,
  owner: address,
  ownershipStartedAtMs: milliseconds,
  level: count,
  pending: z.strictObject({ round: amount, source: z.enum(['mint', 'merge']), weight: amount }).nullable(),
  nextMergeBlock: amount,
  segments: z.array(weightSegment),
  /** Paid by claims (base units), including claims of merged donors. */
  paidBaseUnits: amount,
});
export type MinerPosition = Inferred<typeof minerPosition>;
