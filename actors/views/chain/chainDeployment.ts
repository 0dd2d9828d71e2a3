import type { ChainActors } from '../../chain/chainActors.ts';
import type { ContractAddresses } from '../../chain/spans/chainEvent.ts';
import type { ChainInfo, Release } from './chainViewTypes.ts';

export interface ChainDeployment {
  readonly release: Release;
  readonly chain: Pick<ChainInfo, 'target' | 'chainId' | 'deploymentBlock' | 'economyDeploymentBlock'>;
  readonly contracts: ContractAddresses;
}

export interface FollowedDeployment {
  readonly deployment: ChainDeployment;
  readonly actors: ChainActors;
}
