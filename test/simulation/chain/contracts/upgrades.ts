import { encodeAbiParameters, encodeFunctionData, type Hex, keccak256, pad } from 'viem';
import { coreAbi, proxyAdminAbi } from '../../../../actors/chain/spans/contractAbis.ts';
import { zeroHash } from '../../../../actors/schemas/hex.ts';
import { expect, type Transaction } from './contractState.ts';
import { contracts, economySettings } from './settings.ts';

/** Upgrades of the core through OpenZeppelin's timelock and proxy. */

export const findImplementation = (version: bigint): Hex =>
  pad(`0xc0de${version.toString(16).padStart(2, '0')}`, { size: 20 });

/** Arguments of the log that activates a version. */
export const describeVersion = (version: bigint) => ({
  version,
  storageLayoutDigest: pad('0xd1', { size: 32 }),
  implementation: findImplementation(version),
  runtimeHash: keccak256(findImplementation(version)),
});

export function scheduleUpgrade({ state, timestamp, emit }: Transaction): void {
  expect(state.upgrade === null, 'TimelockUnexpectedOperationState');
  const version = state.core.version + 1n;
  const data = encodeFunctionData({
    abi: proxyAdminAbi,
    functionName: 'upgradeAndCall',
    args: [
      contracts.core,
      findImplementation(version),
      encodeFunctionData({ abi: coreAbi, functionName: 'activateVersion' }),
    ],
  });
  const delay = economySettings.timelockDelaySeconds;
  const id = keccak256(
    encodeAbiParameters(
      [{ type: 'address' }, { type: 'uint256' }, { type: 'bytes' }, { type: 'bytes32' }, { type: 'bytes32' }],
      [contracts.proxyAdmin, 0n, data, zeroHash, zeroHash],
    ),
  );
  state.upgrade = { id, version, data, readyAt: timestamp + delay };
  emit('operatorTimelock', 'CallScheduled', {
    id,
    index: 0n,
    target: contracts.proxyAdmin,
    value: 0n,
    data,
    predecessor: zeroHash,
    delay,
  });
}

export function executeUpgrade({ state, timestamp, emit }: Transaction): void {
  const { upgrade } = state;
  expect(upgrade !== null && timestamp >= upgrade.readyAt, 'TimelockUnexpectedOperationState');
  const { id, version, data } = upgrade;
  state.core.version = version;
  state.upgrade = null;
  emit('core', 'Upgraded', { implementation: findImplementation(version) });
  emit('core', 'VersionActivated', describeVersion(version));
  emit('core', 'Initialized', { version });
  emit('operatorTimelock', 'CallExecuted', { id, index: 0n, target: contracts.proxyAdmin, value: 0n, data });
}

export function cancelUpgrade({ state, emit }: Transaction): void {
  const { upgrade } = state;
  expect(upgrade !== null, 'TimelockUnexpectedOperationState');
  state.upgrade = null;
  emit('operatorTimelock', 'Cancelled', { id: upgrade.id });
}
