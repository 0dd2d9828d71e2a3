import {
  type Account,
  type Address,
  type Chain,
  type Client,
  encodeFunctionData,
  getContract,
  type Hex,
  type Transport,
  zeroHash,
} from 'viem';
import { sendTransaction } from 'viem/actions';
import {
  collectionAbi,
  coreAbi,
  miningAbi,
  proxyAdminAbi,
  timelockAbi,
} from '../../actors/chain/spans/contractAbis.ts';
import { type DeployedContracts, encodeImplementation } from './deployContracts.ts';

/** Enough for the largest action, a checkpoint over many rounds. */
const gas = 8_000_000n;

interface EconomyActionsOptions {
  /** Of a chain whose accounts are unlocked, such as anvil's. */
  readonly client: Client<Transport, Chain, Account | undefined>;
  readonly contracts: DeployedContracts['contracts'];
  /** Proposer and executor of the timelock, owner of the collection. */
  readonly operator: Address;
  readonly guardian: Address;
  readonly reporter: Address;
}

/** A round with work, as a settlement names it. */
interface SettledWork {
  readonly roundId: bigint;
  readonly workUnits: bigint;
}

interface Batch {
  readonly previousSettledThroughRound: bigint;
  readonly settledThroughRound: bigint;
  /** Ascending; rounds without work are left out. */
  readonly active: readonly SettledWork[];
  readonly nonce: bigint;
}

/** Actions on a deployed economy. Each sends one transaction and resolves with its hash. */
export type EconomyActions = ReturnType<typeof createEconomyActions>;

export function createEconomyActions(options: EconomyActionsOptions) {
  const { client, contracts, operator, guardian, reporter } = options;
  const core = getContract({ client, address: contracts.core, abi: coreAbi });
  const mining = getContract({ client, address: contracts.mining, abi: miningAbi });
  const collection = getContract({ client, address: contracts.collection, abi: collectionAbi });
  const timelock = getContract({ client, address: contracts.operatorTimelock, abi: timelockAbi });
  // The client determines the chain: without `chain: null` viem would ask the node before each transaction.
  const by = (account: Address) => ({ account, gas, chain: null });
  const encodeCoreUpgrade = (implementation: Address) =>
    [contracts.proxyAdmin, 0n, encodeUpgrade(contracts.core, implementation), zeroHash, zeroHash] as const;

  return {
    settle: ({ previousSettledThroughRound, settledThroughRound, active, nonce }: Batch) => {
      const rounds = active.map(({ roundId }) => roundId);
      const work = active.map(({ workUnits }) => workUnits);
      const batch = [previousSettledThroughRound, settledThroughRound, rounds, work, nonce] as const;
      return core.write.settle(batch, by(reporter));
    },
    pauseSettlement: () => core.write.pause(by(guardian)),
    resumeSettlement: () => core.write.unpause(by(guardian)),
    checkpoint: (from: Address, throughRound: bigint) => mining.write.checkpoint([throughRound], by(from)),
    merge: (owner: Address, survivor: bigint, donor: bigint) =>
      mining.write.merge([survivor, donor], by(owner)),
    claim: (owner: Address, tokenIds: readonly bigint[]) => mining.write.claim([tokenIds], by(owner)),
    mint: (owner: Address, quantity: bigint, price: bigint) =>
      collection.write.mint([quantity], { ...by(owner), value: price * quantity }),
    mintReserve: (to: Address, quantity: bigint) =>
      collection.write.mintReserve([to, quantity], by(operator)),
    transfer: (from: Address, to: Address, tokenId: bigint) =>
      collection.write.transferFrom([from, to, tokenId], by(from)),
    configureSale: (sale: {
      readonly allowlistStart: bigint;
      readonly allowlistEnd: bigint;
      readonly publicPrice: bigint;
      readonly publicAllocation: bigint;
      readonly protocolReserve: bigint;
    }) => collection.write.configureSale([sale], by(operator)),
    allow: (accounts: readonly Address[], quantity: bigint) =>
      collection.write.allow([accounts, quantity], by(operator)),
    closeSale: () => collection.write.closeSale(by(operator)),
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
    cancelOperation: (id: Hex) => timelock.write.cancel([id], by(operator)),
  };
}

function encodeUpgrade(proxy: Address, implementation: Address): Hex {
  const activate = encodeFunctionData({ abi: coreAbi, functionName: 'activateVersion' });
  return encodeFunctionData({
    abi: proxyAdminAbi,
    functionName: 'upgradeAndCall',
    args: [proxy, implementation, activate],
  });
}
