import {
  type Account,
  type Address,
  type Chain,
  type Client,
  encodeFunctionData,
  getContract,
  type Transport,
  zeroHash,
} from 'viem';
import { sendTransaction } from 'viem/actions';
import {
  collectionAbi,
  coreAbi,
  proxyAdminAbi,
  timelockAbi,
} from '../../../actors/chain/spans/contractAbis.ts';
import { type DeployedContracts, encodeImplementation } from '../../../deploy/local/deployContracts.ts';

const gas = 8_000_000n;

interface OperatorActionsOptions {
  /** Client of a chain with unlocked accounts, such as anvil. */
  readonly client: Client<Transport, Chain, Account | undefined>;
  readonly contracts: DeployedContracts['contracts'];
  /** Proposer and executor of the timelock, owner of the collection. */
  readonly operator: Address;
  readonly guardian: Address;
}

/** Actions of an economy's operator and guardian. Each sends one transaction and resolves with its hash. */
export function createOperatorActions({ client, contracts, operator, guardian }: OperatorActionsOptions) {
  const core = getContract({ client, address: contracts.core, abi: coreAbi });
  const collection = getContract({ client, address: contracts.collection, abi: collectionAbi });
  const timelock = getContract({ client, address: contracts.operatorTimelock, abi: timelockAbi });
  const by = (account: Address) => ({ account, gas, chain: null });
  const encodeCoreUpgrade = (implementation: Address) => {
    const activate = encodeFunctionData({ abi: coreAbi, functionName: 'activateVersion' });
    const upgrade = encodeFunctionData({
      abi: proxyAdminAbi,
      functionName: 'upgradeAndCall',
      args: [contracts.core, implementation, activate],
    });
    return [contracts.proxyAdmin, 0n, upgrade, zeroHash, zeroHash] as const;
  };

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
    /** Creates an implementation; its address is in the receipt. */
    createImplementation: (name: 'SettlementCore' | 'Mining', version: bigint) =>
      sendTransaction(client, { ...by(operator), data: encodeImplementation(name, version) }),
    scheduleUpgrade: (implementation: Address, delaySeconds: bigint) =>
      timelock.write.schedule([...encodeCoreUpgrade(implementation), delaySeconds], by(operator)),
    executeUpgrade: (implementation: Address) =>
      timelock.write.execute(encodeCoreUpgrade(implementation), by(operator)),
  };
}
