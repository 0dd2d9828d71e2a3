import type { Address } from '../../../actors/schemas/hex.ts';
import { buildEvent, type WrittenEvent, writtenContracts } from './writtenSpans.ts';

const nobody: Address = writtenContracts.operatorTimelock;
const digest = `0x${'d'.repeat(64)}`;

const versionArgs = {
  version: 1n,
  storageLayoutDigest: digest,
  implementation: nobody,
  runtimeHash: digest,
};

/** Logs that configure the contracts, so that the economy's views are available. */
export const configuredEconomy: readonly WrittenEvent[] = [
  buildEvent('core', 'CoreConfigured', {
    streamId: digest,
    genesisTimestamp: 1_769_860_800n,
    roundDuration: 600n,
    maxWorkPerRound: 1_000_000n,
    maxRoundsPerBatch: 16n,
    initialWorkPerThousandBlocks: 1_000_000n,
    targetBlocksPerActiveRound: 2n,
    difficultySmoothingRounds: 48n,
    blockUnitsPerBlock: 1_000_000_000n,
    operator: nobody,
    guardian: nobody,
    reporter: nobody,
  }),
  buildEvent('core', 'VersionActivated', versionArgs),
  buildEvent('tokenFactory', 'TokenCreated', {
    token: writtenContracts.token,
    minter: writtenContracts.mining,
    name: 'Reward',
    symbol: 'SQK',
    decimals: 18,
    cap: 10n ** 24n,
  }),
  buildEvent('mining', 'MiningConfigured', {
    core: writtenContracts.core,
    token: writtenContracts.token,
    collection: writtenContracts.collection,
    rewardPerBlock: 50n,
    supplyCap: 10n ** 24n,
    claimLimit: 32n,
    weights: [100n, 220n],
    cooldownBlocks: [3n, 3n],
  }),
  buildEvent('mining', 'VersionActivated', versionArgs),
];

export function minted(owner: Address, tokenId: number): WrittenEvent {
  return buildEvent('mining', 'PositionMinted', {
    owner,
    tokenId: BigInt(tokenId),
    weight: 100n,
    nextMergeBlock: BigInt(tokenId),
    firstRound: 2n ** 64n - 1n,
  });
}

export function transferred(from: Address, to: Address, tokenId: number): WrittenEvent {
  return buildEvent('collection', 'Transfer', { from, to, tokenId: BigInt(tokenId) });
}
