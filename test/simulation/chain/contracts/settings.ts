import { pad } from 'viem';
import { type Address, toAddress } from '../../../../actors/schemas/hex.ts';
import { writtenContracts } from '../../../support/chain/writtenSpans.ts';

/** Addresses of the contracts, which exist on no real chain. */
export const contracts = writtenContracts;

const account = (number: number): Address => toAddress(pad(`0xacc${number}`, { size: 20 }));

/** Proposer of the timelock, and owner of the collection. */
export const operator = account(0);
export const guardian = account(1);
export const reporter = account(2);
export const owners: readonly Address[] = [3, 4, 5, 6, 7].map(account);

export const economySettings = {
  roundSeconds: 600n,
  maxWorkPerRound: 1_000_000n,
  maxRoundsPerBatch: 16n,
  initialWorkPerThousandBlocks: 1_000_000n,
  targetBlocksPerActiveRound: 2n,
  difficultySmoothingRounds: 48n,
  blockUnitsPerBlock: 1_000_000_000n,
  timelockDelaySeconds: 60n,
  supplyCap: 1_000_000n * 10n ** 18n,
  rewardPerBlock: 50n * 10n ** 18n,
  claimLimit: 32n,
  levels: Array.from({ length: 5 }, (_, index) => ({
    weight: BigInt(100 * 2 ** index + 7 * index),
    cooldownBlocks: BigInt(index),
  })),
} as const;

export const scale = 10n ** 27n;
