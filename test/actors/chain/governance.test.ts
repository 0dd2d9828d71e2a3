import { encodeFunctionData, type Hex } from 'viem';
import { expect, it } from 'vitest';
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
  return events.reduce((state, event, index) => {
    const decoded = decode(block, buildLog(event, index));
    if (decoded === null) throw new Error(`${event.name} is not decoded`);
    return applyEvent(state, decoded, writtenContracts);
  }, emptyChainState(block)).governance;
}

const id = (number: number): Hex => `0x${number.toString(16).padStart(64, '0')}`;
const encodeUpgrade = (proxy: string) =>
  encodeFunctionData({
    abi: proxyAdminAbi,
    functionName: 'upgradeAndCall',
    args: [proxy as Hex, mining as Hex, '0x'],
  });
const schedule = (operation: number, target: string, data: Hex = '0x12345678', index = 0) =>
  buildEvent('operatorTimelock', 'CallScheduled', {
    ...{ id: id(operation), index: BigInt(index), target, data, delay: 60n },
  });
const execute = (operation: number, target: string, index = 0) =>
  buildEvent('operatorTimelock', 'CallExecuted', {
    ...{ id: id(operation), index: BigInt(index), target },
  });
const cancel = (operation: number) => buildEvent('operatorTimelock', 'Cancelled', { id: id(operation) });
const upgrade = encodeUpgrade(core);
const isUpgrade = { kind: 'upgrade', state: 'scheduled' };
const isCall = { kind: 'call', state: 'scheduled' };

it.each<[string, WrittenEvent[], object | null]>([
  ['is null before any', [], null],
  ['ignores another target', [schedule(1, mining)], null],
  ['an upgrade through the admin', [schedule(1, proxyAdmin, upgrade)], isUpgrade],
  ['a call of the core', [schedule(1, core)], isCall],
  [
    'a call of the admin that upgrades another proxy',
    [schedule(1, proxyAdmin, encodeUpgrade(mining))],
    isCall,
  ],
  ['a call of the core that looks like an upgrade', [schedule(1, core, upgrade)], isCall],
  [
    'is the operation on the proxy, although another target follows',
    [schedule(1, core), schedule(2, mining, upgrade), execute(2, mining)],
    { id: id(1), ...isCall },
  ],
  [
    'the latest of two',
    [schedule(1, proxyAdmin, upgrade), schedule(2, core), execute(1, proxyAdmin)],
    { id: id(2), ...isCall },
  ],
  ['executed', [schedule(1, core), execute(1, core)], { state: 'executed' }],
  ['cancelled', [schedule(1, core), cancel(1)], { state: 'cancelled' }],
  [
    'scheduled again after it was cancelled, with what it calls now',
    [schedule(1, proxyAdmin, upgrade), cancel(1), schedule(1, core)],
    { id: id(1), ...isCall },
  ],
  [
    'a batch by its upgrade, although its other calls differ',
    [
      schedule(1, mining),
      schedule(1, core, '0x8456cb59', 1),
      schedule(1, proxyAdmin, upgrade, 2),
      schedule(1, core, '0x8456cb59', 3),
      schedule(1, mining, '0x12345678', 4),
    ],
    isUpgrade,
  ],
  [
    'a batch by its call on the proxy, although another target is upgraded too',
    [schedule(1, mining, upgrade), schedule(1, core, '0x8456cb59', 1)],
    isCall,
  ],
  ['no batch without a call on the proxy', [schedule(1, mining), schedule(1, mining, upgrade, 1)], null],
  [
    'a batch that was executed call by call',
    [schedule(1, core), schedule(1, mining, '0x', 1), execute(1, core), execute(1, mining, 1)],
    { state: 'executed' },
  ],
])('the operation that is shown: %s', (_what, events, expected) => {
  const { operation } = governanceAfter(events);
  if (expected === null) expect(operation).toBeNull();
  else expect(operation).toMatchObject(expected);
});
