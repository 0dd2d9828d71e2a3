import { expect, it } from 'vitest';
import { foldAndStop } from '../support/processes/foldAndStop.ts';
import { type MinerProcess, startMiner, waitUntilReady } from '../support/processes/minerProcess.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';

/** What a start writes, in order: each is a place to kill it at. */
const places = [
  '"msg":"listening"}',
  '"actor":"streamFollower MINER_COUNTER","state":"restoring.working"',
  '"msg":"snapshot restored"',
  '"actor":"streamFollower MINER_COUNTER","state":"following',
];

const routes = ['/v1/public/installations/wheel.one/observations?limit=100', '/v1/events?limit=100'];

function readBodies(miner: MinerProcess): Promise<unknown[]> {
  return Promise.all(routes.map((route) => miner.json(route)));
}

it('a process that is killed while it restores changes nothing: the next one serves the same', async () => {
  const { settings } = await foldAndStop(({ connection }) =>
    publishAll(connection, mixedPublications(1_200)),
  );
  const undisturbed = await startMiner(settings);
  await waitUntilReady(undisturbed);
  const bodies = await readBodies(undisturbed);
  await undisturbed.end('SIGKILL');
  for (const place of places) {
    const killed = await startMiner({ ...settings, environment: { MINER_LOG_LEVEL: 'debug' } });
    await killed.written(place);
    await killed.end('SIGKILL');
  }
  const next = await startMiner(settings);
  await waitUntilReady(next);
  await next.written('"msg":"snapshot restored"');
  expect(await readBodies(next)).toEqual(bodies);
  await next.end('SIGTERM');
});
