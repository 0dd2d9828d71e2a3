import {
  type Address,
  createPublicClient,
  getContract,
  type Transport,
  testActions,
  walletActions,
  webSocket,
} from 'viem';
import { collectionAbi, coreAbi } from '../../../actors/chain/spans/contractAbis.ts';
import {
  type DeployedContracts,
  deployContracts,
  type EconomySettings,
} from '../../../deploy/local/deployContracts.ts';
import { createEconomyActions } from '../../../deploy/local/economyActions.ts';
import { startAnvil } from '../../../deploy/local/localAnvil.ts';
import { localChain } from '../../../deploy/local/localChainClient.ts';
import { whenFinished } from '../processes/lifetime.ts';
import { silentLogger } from '../silentLogger.ts';
import { economyNumbers } from './economyNumbers.ts';

export const chainGenesis = Date.UTC(2026, 0, 31, 12) / 1000;

/** A real chain of one test, with the contracts deployed. */
export type TestEconomy = Awaited<ReturnType<typeof startEconomy>>;

/** A node that mines on request, and sends for its accounts, as anvil does. */
export interface EconomyNode {
  readonly url: string;
  readonly transport: Transport;
}

/** Uses one connection: a random economy makes thousands of calls, and an HTTP request costs more than its answer. */
async function startAnvilNode(): Promise<EconomyNode> {
  const anvil = await startAnvil({ genesisTimestamp: chainGenesis - 3_600, dir: null, logger: silentLogger });
  const transport = webSocket(anvil.url.replace('http', 'ws'), {
    keepAlive: false,
    reconnect: false,
    retryCount: 0,
  });
  whenFinished(async () => {
    // viem keeps a connection by its URL, closed or not, and a later node may be given the same port.
    const connection = await transport({ chain: localChain }).value?.getRpcClient();
    connection?.close();
    await anvil.stop();
  });
  return { url: anvil.url, transport };
}

/** @param node whose chain holds nothing yet. */
export async function startEconomy(node?: EconomyNode) {
  const { url, transport } = node ?? (await startAnvilNode());
  const client = createPublicClient({ chain: localChain, transport, pollingInterval: 50, cacheTime: 0 })
    .extend(testActions({ mode: 'anvil' }))
    .extend(walletActions);
  const accounts = (await client.getAddresses()).map((address) => address.toLowerCase() as Address);
  const [operator, guardian, reporter, ...owners] = accounts as [Address, Address, Address, ...Address[]];
  let nowSeconds = chainGenesis - 3_600;
  /** Mines one block, this many seconds after the last one. */
  const mine = async (afterSeconds = 12) => {
    nowSeconds += afterSeconds;
    await client.request({ method: 'evm_mine', params: [{ timestamp: nowSeconds }] } as never);
  };
  const settings: EconomySettings = {
    streamId: `0x${'5'.repeat(64)}`,
    genesisTimestamp: BigInt(chainGenesis),
    ...economyNumbers,
    guardian,
    reporter,
    tokenSymbol: 'SQK',
  };
  const deployed: DeployedContracts = await deployContracts({
    client: { ...client, account: { address: operator, type: 'json-rpc' } } as never,
    settings,
    mine: () => mine(1),
  });
  const { contracts } = deployed;
  const core = getContract({ client, address: contracts.core, abi: coreAbi });
  const collection = getContract({ client, address: contracts.collection, abi: collectionAbi });
  const by = (account: Address) => ({ account, gas: 8_000_000n, chain: null });
  /** Each sends one transaction and resolves with its hash. */
  const actions = {
    ...createEconomyActions({ client: client as never, contracts, operator, reporter }),
    pauseCore: () => core.write.pause(by(guardian)),
    unpauseCore: () => core.write.unpause(by(guardian)),
    mintReserve: (to: Address, quantity: bigint) =>
      collection.write.mintReserve([to, quantity], by(operator)),
    pauseCollection: () => collection.write.pause(by(operator)),
    unpauseCollection: () => collection.write.unpause(by(operator)),
    advanceMetadataEpoch: (cardBaseUrl: string) =>
      collection.write.advanceMetadataEpoch([cardBaseUrl], by(operator)),
    publishMetadata: (tokenId: bigint) => collection.write.publishMetadata([tokenId], by(operator)),
  };
  return {
    url,
    client,
    deployed,
    settings,
    actions,
    operator,
    guardian,
    reporter,
    owners,
    mine,
    nowSeconds: () => nowSeconds,
    /** Sets the clock to the chain's, after a reorganization or a revert. */
    resetClock: async () => {
      nowSeconds = Number((await client.getBlock()).timestamp);
    },
  };
}
