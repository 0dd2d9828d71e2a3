import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { startMiner, waitUntilReady } from '../support/processes/minerProcess.ts';
import { startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

it('a running process logs levels, times, its version, and one of three requests if asked to', async () => {
  const { url: natsUrl } = await startNats();
  const environment = { MINER_ACCESS_LOG: '3' };
  const miner = await startMiner({ natsUrl, dataDir: temporaryDirectory(), environment });
  await waitUntilReady(miner);
  for (let request = 1; request <= 6; request++)
    await fetch(`${miner.publicUrl}/v1/status`, { headers: { 'X-Request-Id': `request-${request}` } });
  expect(await miner.end('SIGTERM')).toBe(0);
  for (const line of miner.log()) {
    expect(line).toMatchObject({ service: 'miner', version: packageJson.version });
    expect(line.level).toMatch(/^(info|warn)$/);
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
  const requests = miner.log().filter(({ msg }) => msg === 'request');
  expect(requests.map(({ requestId }) => requestId)).toEqual(['request-3', 'request-6']);
  expect(requests[0]).toMatchObject({ route: '/v1/status', status: 200, oneOf: 3 });
});
