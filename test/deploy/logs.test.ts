import { expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { shareInFile } from '../support/processes/lifetime.ts';
import { startMiner, waitUntilReady } from '../support/processes/minerProcess.ts';
import { startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const natsServer = shareInFile(() => startNats());

async function startAndAsk(environment: Readonly<Record<string, string>>) {
  const { url: natsUrl } = await natsServer();
  const miner = await startMiner({ natsUrl, dataDir: temporaryDirectory(), environment });
  await waitUntilReady(miner);
  for (let request = 1; request <= 6; request++)
    await fetch(`${miner.publicUrl}/v1/status`, { headers: { 'X-Request-Id': `request-${request}` } });
  expect(await miner.end('SIGTERM')).toBe(0);
  return { lines: miner.log(), requests: miner.log().filter(({ msg }) => msg === 'request') };
}

it('a running process logs levels, times, its version, and one of three requests if asked to', async () => {
  const { lines, requests } = await startAndAsk({ MINER_ACCESS_LOG: '3' });
  for (const line of lines) {
    expect(line).toMatchObject({ service: 'miner', version: packageJson.version });
    expect(line.level).toMatch(/^(info|warn)$/);
    expect(line.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  }
  expect(requests.map(({ requestId }) => requestId)).toEqual(['request-3', 'request-6']);
  expect(requests[0]).toMatchObject({ route: '/v1/status', status: 200, oneOf: 3 });
});

it('a running process logs no requests by default', async () => {
  expect((await startAndAsk({})).requests).toEqual([]);
});
