import { pad } from 'viem';
import { type Address, toAddress } from '../../../../actors/schemas/hex.ts';
import { economyNumbers } from '../../../support/chain/economyNumbers.ts';
import { writtenContracts } from '../../../support/chain/writtenSpans.ts';

/** Addresses of the contracts, which exist on no real chain. */
export const contracts = writtenContracts;

const account = (number: number): Address => toAddress(pad(`0xacc${number}`, { size: 20 }));

/** Proposer of the timelock, and owner of the collection. */
export const operator = account(0);
export const guardian = account(1);
export const reporter = account(2);
export const owners: readonly Address[] = [3, 4, 5, 6, 7].map(account);

/** Settings of the local deployment and of tests. */
export const economySettings = {
  roundSeconds: 600n,
  maxRoundsPerBatch: 16n,
  blockUnitsPerBlock: 1_000_000_000n,
  ...economyNumbers,
};

export const scale = 10n ** 27n;
