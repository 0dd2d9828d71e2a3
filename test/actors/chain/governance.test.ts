import { encodeFunctionData, type Hex, zeroHash } from 'viem';
import { describe, expect, it } from 'vitest';
import { applyEvent } from '../../../actors/chain/handlers/applyEvent.ts';
import { proxyAdminAbi } from '../../../actors/chain/spans/contractAbis.ts';
import { createLogDecoder } from '../../../actors/chain/spans/decodeLog.ts';
import { emptyChainState } from '../../../actors/chain/state/chainState.ts';
import { buildBlockHash } from '../../support/chain/hashes.ts';
import {
  buildEvent,
  buildLog,
  type WrittenEvent,
  writtenContracts,
} from '../../support/chain/writtenSpans.ts';

const { core, proxyAdmin, mining } = writtenContracts;
const block = { number: 1n, hash: buildBlockHash(1), timestampMs: 1_000_000, logs: [] };

/** Governance after these events. */
function governanceAfter(events: readonly WrittenEvent[]) {
  const decode = createLogDecoder(writtenContracts);
  return events.reduce(
    (state, event, index) => {
      const decoded = decode(block, buildLog(event, index));
      if (decoded === null) throw new Error(`${event.name} is not decoded`);
      return applyEvent(state, decoded, writtenContracts);
    },
    emptyChainState(block, 'run'),
  ).governance;
}

const id = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
const encodeUpgrade = (proxy: string) =>
  encodeFunctionData({
    abi: proxyAdminAbi,
    functionName: 'upgradeAndCall',
    args: [proxy as Hex, mining as Hex, '0x'],
  });
const buildSchedule = (operation: number, target: string, data: Hex = '0x12345678', index = 0) =>
  buildEvent('operatorTimelock', 'CallScheduled', {
    id: id(operation),
    index: BigInt(index),
    target,
    value: 0n,
    data,
    predecessor: zeroHash,
    delay: 60n,
  });
const buildExecution = (operation: number, target: string, index = 0) =>
  buildEvent('operatorTimelock', 'CallExecuted', {
    id: id(operation),
    index: BigInt(index),
    target,
    value: 0n,
    data: '0x',
  });
const buildCancellation = (operation: number) =>
  buildEvent('operatorTimelock', 'Cancelled', { id: id(operation) });
const upgrade = encodeUpgrade(core);

describe('the operation that is shown', () => {
  it.each<[string, WrittenEvent[], object | null]>([
    ['is null before any', [], null],
    ['ignores another target', [buildSchedule(1, mining)], null],
    [
      'an upgrade through the admin',
      [buildSchedule(1, proxyAdmin, upgrade)],
      { kind: 'upgrade', state: 'scheduled' },
    ],
    ['a call of the core', [buildSchedule(1, core)], { kind: 'call' }],
    [
      'a call of the admin that upgrades another proxy',
      [buildSchedule(1, proxyAdmin, encodeUpgrade(mining))],
      { kind: 'call' },
    ],
    ['a call of the core that looks like an upgrade', [buildSchedule(1, core, upgrade)], { kind: 'call' }],
    [
      'is the operation on the proxy, although another target follows',
      [buildSchedule(1, core), buildSchedule(2, mining, upgrade), buildExecution(2, mining)],
      { id: id(1), kind: 'call', state: 'scheduled' },
    ],
    [
      'the latest of two',
      [buildSchedule(1, proxyAdmin, upgrade), buildSchedule(2, core), buildExecution(1, proxyAdmin)],
      { id: id(2), kind: 'call', state: 'scheduled' },
    ],
    ['executed', [buildSchedule(1, core), buildExecution(1, core)], { state: 'executed' }],
    ['cancelled', [buildSchedule(1, core), buildCancellation(1)], { state: 'cancelled' }],
    [
      'scheduled again after it was cancelled, with what it calls now',
      [buildSchedule(1, proxyAdmin, upgrade), buildCancellation(1), buildSchedule(1, core)],
      { id: id(1), kind: 'call', state: 'scheduled' },
    ],
    [
      'a batch by its upgrade, although its last call is another',
      [
        buildSchedule(1, proxyAdmin, upgrade, 0),
        buildSchedule(1, core, '0x8456cb59', 1),
        buildSchedule(1, mining, '0x12345678', 2),
      ],
      { kind: 'upgrade', state: 'scheduled' },
    ],
    [
      'a batch by its upgrade, although its first call is another',
      [
        buildSchedule(1, mining),
        buildSchedule(1, core, '0x8456cb59', 1),
        buildSchedule(1, proxyAdmin, upgrade, 2),
      ],
      { kind: 'upgrade' },
    ],
    [
      'a batch by its call on the proxy, although another target is upgraded too',
      [buildSchedule(1, mining, upgrade), buildSchedule(1, core, '0x8456cb59', 1)],
      { kind: 'call' },
    ],
    [
      'no batch without a call on the proxy',
      [buildSchedule(1, mining), buildSchedule(1, mining, upgrade, 1)],
      null,
    ],
    [
      'a batch that was executed call by call',
      [
        buildSchedule(1, core),
        buildSchedule(1, mining, '0x', 1),
        buildExecution(1, core),
        buildExecution(1, mining, 1),
      ],
      { state: 'executed' },
    ],
  ])('%s', (_what, events, expected) => {
    const { operation } = governanceAfter(events);
    if (expected === null) expect(operation).toBeNull();
    else expect(operation).toMatchObject(expected);
  });
});
