import {
  type Abi,
  type Account,
  type Address,
  type Chain,
  type Client,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type EncodeFunctionDataParameters,
  encodeFunctionData,
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

export interface EconomyActionsOptions {
  /** Of a chain whose accounts are unlocked, such as anvil's. */
  readonly client: Client<Transport, Chain, Account | undefined>;
  readonly contracts: DeployedContracts['contracts'];
  /** Proposer and executor of the timelock, owner of the collection. */
  readonly operator: Address;
  readonly guardian: Address;
  readonly reporter: Address;
}

/** A round with work, as a settlement names it. */
export interface SettledWork {
  readonly roundId: bigint;
  readonly workUnits: bigint;
}

export interface Batch {
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

  function send(from: Address, to: Address | null, data: Hex, value = 0n): Promise<Hex> {
    // The client determines the chain: without `chain: null` viem would ask the node before each transaction.
    return sendTransaction(client, { chain: null, account: from, to, data, value, gas });
  }

  function call<const Contract extends Abi, Name extends ContractFunctionName<Contract>>(
    from: Address,
    to: Address,
    abi: Contract,
    functionName: Name,
    args: ContractFunctionArgs<Contract, 'nonpayable' | 'payable', Name>,
    value = 0n,
  ): Promise<Hex> {
    // viem cannot relate its own parameter types while `Contract` and `Name` are generic.
    const encoded = { abi, functionName, args } as unknown as EncodeFunctionDataParameters<Contract, Name>;
    return send(from, to, encodeFunctionData(encoded), value);
  }

  const { core, mining, collection, operatorTimelock, proxyAdmin } = contracts;

  return {
    settle: ({ previousSettledThroughRound, settledThroughRound, active, nonce }: Batch) =>
      call(reporter, core, coreAbi, 'settle', [
        previousSettledThroughRound,
        settledThroughRound,
        active.map(({ roundId }) => roundId),
        active.map(({ workUnits }) => workUnits),
        nonce,
      ]),
    pauseSettlement: () => call(guardian, core, coreAbi, 'pause', []),
    resumeSettlement: () => call(guardian, core, coreAbi, 'unpause', []),
    checkpoint: (from: Address, throughRound: bigint) =>
      call(from, mining, miningAbi, 'checkpoint', [throughRound]),
    merge: (owner: Address, survivor: bigint, donor: bigint) =>
      call(owner, mining, miningAbi, 'merge', [survivor, donor]),
    claim: (owner: Address, tokenIds: readonly bigint[]) =>
      call(owner, mining, miningAbi, 'claim', [tokenIds]),
    mint: (owner: Address, quantity: bigint, price: bigint) =>
      call(owner, collection, collectionAbi, 'mint', [quantity], price * quantity),
    mintReserve: (to: Address, quantity: bigint) =>
      call(operator, collection, collectionAbi, 'mintReserve', [to, quantity]),
    transfer: (from: Address, to: Address, tokenId: bigint) =>
      call(from, collection, collectionAbi, 'transferFrom', [from, to, tokenId]),
    configureSale: (sale: {
      readonly allowlistStart: bigint;
      readonly allowlistEnd: bigint;
      readonly publicPrice: bigint;
      readonly publicAllocation: bigint;
      readonly protocolReserve: bigint;
    }) => call(operator, collection, collectionAbi, 'configureSale', [sale]),
    allow: (accounts: readonly Address[], quantity: bigint) =>
      call(operator, collection, collectionAbi, 'allow', [accounts, quantity]),
    closeSale: () => call(operator, collection, collectionAbi, 'closeSale', []),
    pauseCollection: () => call(operator, collection, collectionAbi, 'pause', []),
    resumeCollection: () => call(operator, collection, collectionAbi, 'unpause', []),
    advanceMetadataEpoch: (cardBaseUrl: string) =>
      call(operator, collection, collectionAbi, 'advanceMetadataEpoch', [cardBaseUrl]),
    publishMetadata: (from: Address, tokenId: bigint) =>
      call(from, collection, collectionAbi, 'publishMetadata', [tokenId]),
    /** Creates an implementation; its address is in the receipt. */
    createImplementation: (name: 'SettlementCore' | 'Mining', version: bigint) =>
      send(operator, null, encodeImplementation(name, version)),
    scheduleUpgrade: (implementation: Address, delaySeconds: bigint) =>
      call(operator, operatorTimelock, timelockAbi, 'schedule', [
        proxyAdmin,
        0n,
        encodeUpgrade(core, implementation),
        zeroHash,
        zeroHash,
        delaySeconds,
      ]),
    executeUpgrade: (implementation: Address) =>
      call(operator, operatorTimelock, timelockAbi, 'execute', [
        proxyAdmin,
        0n,
        encodeUpgrade(core, implementation),
        zeroHash,
        zeroHash,
      ]),
    cancelOperation: (id: Hex) => call(operator, operatorTimelock, timelockAbi, 'cancel', [id]),
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
