import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findTip, readLineage } from '../../storage/runs/lineages.ts';
import { genesisMs } from '../support/genesis.ts';
import { startMiner, waitUntilReady, waitUntilStored } from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';
import { onDatabase, readStoredState } from '../support/storage/storedState.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';

/** Another deployment, so that everything is folded again. */
const startMs = genesisMs - 1_800_000;

it('a fold of another deployment survives a kill with all readings', async () => {
  const nats = await startNats();
  const { connection, jsm } = await connectTo(nats);
  await createRemovableStreams(jsm);
  const settings = { natsUrl: nats.url, dataDir: temporaryDirectory() };
  const first = await startMiner(settings);
  await waitUntilReady(first);
  await publishAll(connection, mixedPublications(6_000));
  await waitUntilStored(first, 6_000);
  expect(await first.end('SIGTERM')).toBe(0);
  const read = () =>
    onDatabase({ path: join(settings.dataDir, 'clickhouse') }, async (database) => {
      const history = await readLineage(database, 'MINER_COUNTER');
      return {
        configuration: history?.configuration,
        state: await readStoredState(database),
        tip: history && (await findTip(database, history)),
      };
    });
  const before = await read();
  const killed = await startMiner({ ...settings, startMs });
  await killed.written('show the stored history until then');
  await killed.end('SIGKILL');
  const shown = await read();
  // It may have had everything already.
  if (shown.configuration === before.configuration) expect(shown).toEqual(before);
  await jsm.streams.purge('MINER_COUNTER', { seq: 5_001 });
  const second = await startMiner({ ...settings, startMs });
  await waitUntilReady(second);
  await second.end('SIGTERM');
  const after = await read();
  expect(after.configuration).not.toBe(before.configuration);
  expect(after.state.readings).toEqual(before.state.readings);
  expect(after.tip).toBeGreaterThan(5_000);
});
