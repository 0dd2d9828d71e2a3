import { expect, it } from 'vitest';
import { readConfiguration } from '../../deploy/configuration/configuration.ts';
import { requireFreePorts } from '../../deploy/process/freePorts.ts';

it('a process needs the public port only if it serves', async () => {
  const check = (elsewhere: 'MINER_HOST' | 'MINER_OPS_HOST', serve: boolean) =>
    requireFreePorts(
      readConfiguration({ MINER_HTTP_PORT: '0', MINER_OPS_PORT: '0', [elsewhere]: '192.0.2.1' }),
      { serve },
    );
  await check('MINER_HOST', false);
  await expect(check('MINER_HOST', true)).rejects.toThrow('MINER_HOST is "192.0.2.1"');
  await expect(check('MINER_OPS_HOST', false)).rejects.toThrow('MINER_OPS_HOST is "192.0.2.1"');
});
