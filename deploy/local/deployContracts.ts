import {
  type Account,
  type Address,
  type Chain,
  type Client,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  getContractAddress,
  type Hex,
  type Transport,
} from 'viem';
import { getStorageAt, getTransactionCount, getTransactionReceipt, sendTransaction } from 'viem/actions';
import type { ContractAddresses } from '../../actors/chain/spans/chainEvent.ts';
import {
  collectionAbi,
  coreAbi,
  miningAbi,
  proxyAbi,
  timelockAbi,
  tokenFactoryAbi,
} from '../../actors/chain/spans/contractAbis.ts';
import { toAddress } from '../../actors/schemas/hex.ts';
import compiled from '../contracts/artifacts.json' with { type: 'json' };

/** Storage slot in which a transparent proxy keeps the address of its admin contract (EIP-1967). */
const proxyAdminSlot = '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103';

/** Limit of one transaction since the Osaka fork (EIP-7825). */
const transactionGasMax = 16_777_216n;

type DeployClient = Client<Transport, Chain, Account>;
type ContractName = keyof typeof compiled.contracts;

export interface EconomySettings {
  readonly streamId: Hex;
  /** Unix seconds. */
  readonly genesisTimestamp: bigint;
  readonly maxWorkPerRound: bigint;
  readonly initialWorkPerThousandBlocks: bigint;
  readonly targetBlocksPerActiveRound: bigint;
  readonly difficultySmoothingRounds: bigint;
  readonly guardian: Address;
  readonly reporter: Address;
  readonly timelockDelaySeconds: bigint;
  readonly tokenSymbol: string;
  readonly supplyCap: bigint;
  readonly rewardPerBlock: bigint;
  readonly claimLimit: bigint;
  /** Level 1 first. */
  readonly levels: readonly { readonly weight: bigint; readonly cooldownBlocks: bigint }[];
}

/** The deployed contracts in the form of a deployment file: addresses in lower case. */
export interface DeployedContracts {
  readonly deploymentBlock: bigint;
  readonly economyDeploymentBlock: bigint;
  readonly contracts: ContractAddresses;
}

/** Deploys all contracts of one economy and binds them to each other. */
export async function deployContracts(options: {
  /** Its account deploys, and is the operator: proposer of the timelock, owner of the collection. */
  readonly client: DeployClient;
  readonly settings: EconomySettings;
  /** Mines the sent transactions; does nothing on a chain that mines by itself. */
  readonly mine: () => Promise<void>;
}): Promise<DeployedContracts> {
  const { client, settings, mine } = options;
  const operator = client.account.address;

  async function send(to: Address | null, data: Hex) {
    const hash = await sendTransaction(client, { to, data, gas: transactionGasMax });
    await mine();
    const receipt = await getTransactionReceipt(client, { hash });
    if (receipt.status !== 'success') throw new Error(`deployment: transaction ${hash} was reverted`);
    return receipt;
  }

  async function create(name: ContractName, data: Hex) {
    const receipt = await send(null, data);
    if (receipt.contractAddress == null) throw new Error(`deployment: ${name} has no address`);
    return { address: receipt.contractAddress, block: receipt.blockNumber };
  }

  const createProxy = (implementation: Address, data: Hex) =>
    create(
      'TransparentUpgradeableProxy',
      encodeDeployData({
        abi: proxyAbi,
        bytecode: findBytecode('TransparentUpgradeableProxy'),
        args: [implementation, timelock.address, data],
      }),
    );

  const timelock = await create(
    'TimelockController',
    encodeDeployData({
      abi: timelockAbi,
      bytecode: findBytecode('TimelockController'),
      args: [settings.timelockDelaySeconds, [operator], [operator], operator],
    }),
  );
  const coreImplementation = await create('SettlementCore', encodeImplementation('SettlementCore', 1n));
  const coreConfiguration = {
    ...settings,
    roundDuration: 600n,
    maxRoundsPerBatch: 16n,
    operator: timelock.address,
  };
  const core = await createProxy(
    coreImplementation.address,
    encodeFunctionData({ abi: coreAbi, functionName: 'initialize', args: [coreConfiguration] }),
  );
  const collection = await create(
    'Collection',
    encodeDeployData({
      abi: collectionAbi,
      bytecode: findBytecode('Collection'),
      args: ['Miners', 'MINER', operator],
    }),
  );
  const tokenFactory = await create('TokenFactory', findBytecode('TokenFactory'));
  const miningImplementation = await create('Mining', encodeImplementation('Mining', 1n));
  // The token's minter is the mining proxy, which is created two transactions later.
  const nonce = await getTransactionCount(client, { address: operator });
  const miningAddress = getContractAddress({ from: operator, nonce: BigInt(nonce) + 1n });
  const tokenArguments = ['Squeak', settings.tokenSymbol, settings.supplyCap, miningAddress] as const;
  await send(
    tokenFactory.address,
    encodeFunctionData({ abi: tokenFactoryAbi, functionName: 'create', args: tokenArguments }),
  );
  const token = getContractAddress({ from: tokenFactory.address, nonce: 1n });
  const addresses = { core: core.address, token, collection: collection.address };
  const miningConfiguration = { ...settings, ...addresses, levels: [...settings.levels] };
  const mining = await createProxy(
    miningImplementation.address,
    encodeFunctionData({ abi: miningAbi, functionName: 'initialize', args: [miningConfiguration] }),
  );
  if (getAddress(mining.address) !== getAddress(miningAddress))
    throw new Error('deployment: mining is not at the address that its token expects');
  await send(
    collection.address,
    encodeFunctionData({ abi: collectionAbi, functionName: 'bindMining', args: [mining.address] }),
  );
  const admin = await getStorageAt(client, { address: core.address, slot: proxyAdminSlot });
  return {
    deploymentBlock: timelock.block,
    economyDeploymentBlock: mining.block,
    contracts: {
      core: toAddress(core.address),
      proxyAdmin: toAddress(`0x${admin?.slice(-40)}`),
      operatorTimelock: toAddress(timelock.address),
      tokenFactory: toAddress(tokenFactory.address),
      mining: toAddress(mining.address),
      token: toAddress(token),
      collection: toAddress(collection.address),
    },
  };
}

/** Creation data of an implementation: its code, the version, and the digest of its storage layout. */
function encodeImplementation(name: 'SettlementCore' | 'Mining', version: bigint): Hex {
  return encodeDeployData({
    abi: coreAbi, // Both have the same constructor.
    bytecode: findBytecode(name),
    args: [version, compiled.contracts[name].storageLayoutDigest as Hex], // The digest of this bytecode.
  });
}

/** JSON modules have no literal types. */
function findBytecode(name: ContractName): Hex {
  return compiled.contracts[name].bytecode as Hex;
}
