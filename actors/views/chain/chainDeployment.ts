import type { ChainActors } from '../../chain/chainActors.ts';
import type { ContractAddresses } from '../../chain/spans/chainEvent.ts';
import type { BlockHash } from '../../schemas/hex.ts';

export const chainTargets = ['anvil', 'sepolia', 'mainnet'] as const;

export interface Release {
  readonly id: string;
  readonly protocolRevision: string;
  readonly rewardModelRevision: string;
}

/** The chain of a view, and how far it is indexed (CONTRACT.md, Shared objects). */
export interface ChainInfo {
  readonly target: (typeof chainTargets)[number];
  readonly chainId: bigint;
  readonly deploymentBlock: bigint;
  readonly economyDeploymentBlock: bigint;
  readonly indexedThroughBlock: bigint;
  readonly safeThroughBlock: bigint;
  readonly safeBlockHash: BlockHash;
  readonly safeBlockTimestampMs: number;
}

export interface ChainDeployment {
  readonly release: Release;
  readonly chain: Pick<ChainInfo, 'target' | 'chainId' | 'deploymentBlock' | 'economyDeploymentBlock'>;
  readonly contracts: ContractAddresses;
}

export interface FollowedDeployment {
  readonly deployment: ChainDeployment;
  readonly actors: ChainActors;
}
