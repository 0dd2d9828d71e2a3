import { type Account, type Address, type Chain, type Client, getContract, type Transport } from 'viem';
import { collectionAbi, coreAbi } from '../../../actors/chain/spans/contractAbis.ts';
import type { DeployedContracts } from '../../../deploy/local/deployContracts.ts';

const gas = 8_000_000n;

interface OperatorActionsOptions {
  /** Client of a chain with unlocked accounts, such as anvil. */
  readonly client: Client<Transport, Chain, Account | undefined>;
  readonly contracts: DeployedContracts['contracts'];
  /** Owner of the collection. */
  readonly operator: Address;
  readonly guardian: Address;
}

/** Actions of an economy's operator and guardian. Each sends one transaction and resolves with its hash. */
export function createOperatorActions({ client, contracts, operator, guardian }: OperatorActionsOptions) {
  const core = getContract({ client, address: contracts.core, abi: coreAbi });
  const collection = getContract({ client, address: contracts.collection, abi: collectionAbi });
  const by = (account: Address) => ({ account, gas, chain: null });

  return {
    pauseSettlement: () => core.write.pause(by(guardian)),
    resumeSettlement: () => core.write.unpause(by(guardian)),
    mintReserve: (to: Address, quantity: bigint) =>
      collection.write.mintReserve([to, quantity], by(operator)),
    pauseCollection: () => collection.write.pause(by(operator)),
    resumeCollection: () => collection.write.unpause(by(operator)),
    advanceMetadataEpoch: (cardBaseUrl: string) =>
      collection.write.advanceMetadataEpoch([cardBaseUrl], by(operator)),
    publishMetadata: (from: Address, tokenId: bigint) =>
      collection.write.publishMetadata([tokenId], by(from)),
  };
}
