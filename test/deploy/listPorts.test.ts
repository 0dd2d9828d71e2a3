import { expect, it } from 'vitest';
import { listPorts } from '../../deploy/commands/runService.ts';
import { readConfiguration } from '../../deploy/configuration/configuration.ts';

it('a process needs the public port only if it serves', () => {
  const ports = (serve: boolean) =>
    listPorts(readConfiguration({ MINER_HOST: 'a', MINER_OPS_HOST: 'b' }), { serve });
  const operators = { setting: 'MINER_OPS_PORT', port: 8_081, hostSetting: 'MINER_OPS_HOST', host: 'b' };
  const serving = { setting: 'MINER_HTTP_PORT', port: 8_080, hostSetting: 'MINER_HOST', host: 'a' };
  expect([ports(false), ports(true)]).toEqual([[operators], [operators, serving]]);
});
