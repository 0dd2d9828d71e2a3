import { type Address, createPublicClient, testActions, walletActions, webSocket } from 'viem';
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
import { createOperatorActions } from './operatorActions.ts';

export const chainGenesis = Date.UTC(2026, 0, 31, 12) / 1000;

/** A real chain of one test, with the contracts deployed. */
export type TestEconomy = Awaited<ReturnType<typeof startEconomy>>;

/** Over one connection: a random economy makes thousands of calls, and each of its own HTTP request costs more than its answer. */
function createChainClient(url: string) {
  const transport = webSocket(url.replace('http', 'ws'), {
    keepAlive: false,
    reconnect: false,
    retryCount: 0,
  });
  return createPublicClient({ chain: localChain, transport, pollingInterval: 50, cacheTime: 0 })
    .extend(testActions({ mode: 'anvil' }))
    .extend(walletActions);
}

const economySettings = (guardian: Address, reporter: Address): EconomySettings => ({
  streamId: `0x${'5'.repeat(64)}`,
  genesisTimestamp: BigInt(chainGenesis),
  ...economyNumbers,
  guardian,
  reporter,
  tokenSymbol: 'SQK',
});

export async function startEconomy() {
  const anvil = await startAnvil({ genesisTimestamp: chainGenesis - 3_600, dir: null, logger: silentLogger });
  const client = createChainClient(anvil.url);
  whenFinished(async () => {
    (await client.transport.getRpcClient()).close();
    await anvil.stop();
  });
  const accounts = (await client.getAddresses()).map((address) => address.toLowerCase() as Address);
  const [operator, guardian, reporter, ...owners] = accounts as [Address, Address, Address, ...Address[]];
  let nowSeconds = chainGenesis - 3_600;
  /** Mines one block, so many seconds after the last one. */
  const mine = async (afterSeconds = 12) => {
    nowSeconds += afterSeconds;
    await client.request({ method: 'evm_mine', params: [{ timestamp: nowSeconds }] } as never);
  };
  const settings = economySettings(guardian, reporter);
  const deployed: DeployedContracts = await deployContracts({
    client: { ...client, account: { address: operator, type: 'json-rpc' } } as never,
    settings,
    mine: () => mine(1),
  });
  const onChain = { client: client as never, contracts: deployed.contracts, operator };
  const actions = {
    ...createEconomyActions({ ...onChain, reporter }),
    ...createOperatorActions({ ...onChain, guardian }),
  };
  return {
    url: anvil.url,
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
    /** After a reorganization or a revert, the clock is that of the chain. */
    resetClock: async () => {
      nowSeconds = Number((await client.getBlock()).timestamp);
    },
  };
}
