import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { startMiner, waitUntilReady } from '../support/processes/minerProcess.ts';
import { startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

it('a running process logs levels, times and its version', async () => {
  const { url: natsUrl } = await startNats();
  const miner = await startMiner({ natsUrl, dataDir: temporaryDirectory() });
  await waitUntilReady(miner);
  expect(await miner.end('SIGTERM')).toBe(0);
  for (const line of miner.log()) {
    expect(line).toMatchObject({ service: 'miner', version: packageJson.version });
    expect(line.level).toMatch(/^(info|warn)$/);
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
});
