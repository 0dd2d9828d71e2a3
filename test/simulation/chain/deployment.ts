import { keccak256, pad, toHex } from 'viem';
import { proposerRole } from '../../../actors/chain/spans/chainReads.ts';
import { zeroAddress, zeroHash } from '../../../actors/schemas/hex.ts';
import type { Deployment } from '../../../deploy/configuration/deploymentFile.ts';
import { testRelease } from '../../support/chain/testRelease.ts';
import { configureSale } from './contracts/collectionContract.ts';
import type { Transaction } from './contracts/contractState.ts';
import { contracts, economySettings, guardian, operator, reporter } from './contracts/settings.ts';
import { describeVersion, findImplementation } from './contracts/upgrades.ts';

export const chainId = 31_337n;

/** The timelock is older than the deployment. */
const timelockBlock = 1n;
const deploymentBlock = 3n;
const economyDeploymentBlock = 4n;

/** Release, chain and contracts, as a deployment file has them. */
export const onChain: NonNullable<Deployment['onChain']> = {
  release: testRelease,
  chain: { target: 'anvil', chainId, deploymentBlock, economyDeploymentBlock },
  contracts,
};

type Action = (transaction: Transaction) => void;

/** Actions of the first blocks, by block number. */
export function listDeployment(genesis: bigint): readonly (readonly Action[])[] {
  const blocks: Action[][] = Array.from({ length: 6 }, () => []);
  blocks[Number(timelockBlock)] = [createTimelock];
  blocks[Number(deploymentBlock)] = [(transaction) => createCore(transaction, genesis)];
  blocks[Number(economyDeploymentBlock)] = [createEconomy];
  blocks[Number(economyDeploymentBlock) + 1] = [
    ({ emit }) => emit('collection', 'MiningBound', { mining: contracts.mining }),
    (transaction) => {
      const { timestamp } = transaction;
      configureSale(transaction, {
        allowlistStart: timestamp,
        allowlistEnd: timestamp,
        publicPrice: 1_000n,
        publicAllocation: 2_000n,
        protocolReserve: 200n,
      });
    },
  ];
  return blocks;
}

function createTimelock({ emit }: Transaction) {
  const grant = (role: `0x${string}`, account: `0x${string}`) =>
    emit('operatorTimelock', 'RoleGranted', { role, account, sender: operator });
  grant(zeroHash, contracts.operatorTimelock);
  grant(zeroHash, operator);
  grant(proposerRole, operator);
  grant(keccak256(toHex('CANCELLER_ROLE')), operator);
  grant(keccak256(toHex('EXECUTOR_ROLE')), operator);
  emit('operatorTimelock', 'MinDelayChange', {
    oldDuration: 0n,
    newDuration: economySettings.timelockDelaySeconds,
  });
}

function createCore({ emit }: Transaction, genesis: bigint) {
  emit('core', 'Upgraded', { implementation: findImplementation(1n) });
  emit('core', 'CoreConfigured', {
    ...economySettings,
    streamId: pad('0x5', { size: 32 }),
    genesisTimestamp: genesis,
    roundDuration: economySettings.roundSeconds,
    operator: contracts.operatorTimelock,
    guardian,
    reporter,
  });
  emit('core', 'VersionActivated', describeVersion(1n));
  emit('core', 'Initialized', { version: 1n });
  emit('proxyAdmin', 'OwnershipTransferred', {
    previousOwner: zeroAddress,
    newOwner: contracts.operatorTimelock,
  });
  emit('core', 'AdminChanged', { previousAdmin: zeroAddress, newAdmin: contracts.proxyAdmin });
}

function createEconomy({ emit }: Transaction) {
  const { supplyCap, rewardPerBlock, claimLimit, levels } = economySettings;
  emit('collection', 'OwnershipTransferred', { previousOwner: zeroAddress, newOwner: operator });
  emit('collection', 'MetadataEpochAdvanced', { epoch: 1n });
  emit('tokenFactory', 'TokenCreated', {
    token: contracts.token,
    minter: contracts.mining,
    name: 'Squeak',
    symbol: 'SQK',
    decimals: 18,
    cap: supplyCap,
  });
  emit('mining', 'Upgraded', { implementation: findImplementation(0x33n) });
  emit('mining', 'MiningConfigured', {
    core: contracts.core,
    token: contracts.token,
    collection: contracts.collection,
    rewardPerBlock,
    supplyCap,
    claimLimit,
    weights: levels.map(({ weight }) => weight),
    cooldownBlocks: levels.map(({ cooldownBlocks }) => cooldownBlocks),
  });
  emit('mining', 'VersionActivated', { ...describeVersion(1n), implementation: findImplementation(0x33n) });
  emit('mining', 'Initialized', { version: 1n });
}
