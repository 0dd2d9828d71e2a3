import { type Account, type Address, type Chain, type Client, getContract, type Transport } from 'viem';
import { collectionAbi, coreAbi, miningAbi } from '../../actors/chain/spans/contractAbis.ts';
import type { DeployedContracts } from './deployContracts.ts';

/** Enough for the largest action, a checkpoint over many rounds. */
const gas = 8_000_000n;

interface EconomyActionsOptions {
  /** Client of a chain with unlocked accounts, such as anvil's. */
  readonly client: Client<Transport, Chain, Account | undefined>;
  readonly contracts: DeployedContracts['contracts'];
  readonly operator: Address;
  readonly reporter: Address;
}

interface Batch {
  readonly previousSettledThroughRound: bigint;
  readonly settledThroughRound: bigint;
  /** Ascending, without rounds without work. */
  readonly active: readonly { readonly roundId: bigint; readonly workUnits: bigint }[];
  readonly nonce: bigint;
}

/** Actions on a deployed economy. Each sends one transaction and resolves with its hash. */
export type EconomyActions = ReturnType<typeof createEconomyActions>;

export function createEconomyActions(options: EconomyActionsOptions) {
  const { client, contracts, operator, reporter } = options;
  const core = getContract({ client, address: contracts.core, abi: coreAbi });
  const mining = getContract({ client, address: contracts.mining, abi: miningAbi });
  const collection = getContract({ client, address: contracts.collection, abi: collectionAbi });
  // The client determines the chain: without `chain: null` viem would ask the node before each transaction.
  const by = (account: Address) => ({ account, gas, chain: null });

  return {
    settle: ({ previousSettledThroughRound, settledThroughRound, active, nonce }: Batch) => {
      const rounds = active.map(({ roundId }) => roundId);
      const work = active.map(({ workUnits }) => workUnits);
      const batch = [previousSettledThroughRound, settledThroughRound, rounds, work, nonce] as const;
      return core.write.settle(batch, by(reporter));
    },
    checkpoint: (from: Address, throughRound: bigint) => mining.write.checkpoint([throughRound], by(from)),
    merge: (owner: Address, survivor: bigint, donor: bigint) =>
      mining.write.merge([survivor, donor], by(owner)),
    claim: (owner: Address, tokenIds: readonly bigint[]) => mining.write.claim([tokenIds], by(owner)),
    mint: (owner: Address, quantity: bigint, price: bigint) =>
      collection.write.mint([quantity], { ...by(owner), value: price * quantity }),
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
  };
}
