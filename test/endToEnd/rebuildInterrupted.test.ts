import { expect, it } from 'vitest';
import { findTip, readLineage } from '../../storage/runs/lineages.ts';
import { genesisMs } from '../support/genesis.ts';
import { foldAndStop } from '../support/processes/foldAndStop.ts';
import { startMiner, waitUntilReady } from '../support/processes/minerProcess.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';
import { storedState } from '../support/storage/storedState.ts';

/** Another deployment, so that everything is folded again. */
const startMs = genesisMs - 1_800_000;

it('a fold of another deployment survives a kill with all readings', async () => {
  const { connection, settings, location, onDatabase } = await foldAndStop(({ connection: publisher }) =>
    publishAll(publisher, mixedPublications(6_000)),
  );
  const before = await storedState(location);
  const readHistory = () => onDatabase((database) => readLineage(database, 'MINER_COUNTER'));
  const history = await readHistory();
  const killed = await startMiner({ ...settings, startMs });
  await killed.written('show the stored history until then');
  await killed.end('SIGKILL');
  const shown = await readHistory();
  // It may have had everything already.
  if (shown?.configuration === history?.configuration) expect(await storedState(location)).toEqual(before);
  await connection.jsm.streams.purge('MINER_COUNTER', { seq: 5_001 });
  const second = await startMiner({ ...settings, startMs });
  await waitUntilReady(second);
  await second.end('SIGTERM');
  const after = await readHistory();
  expect(after?.configuration).not.toBe(history?.configuration);
  expect((await storedState(location)).readings).toEqual(before.readings);
  const tip = await onDatabase((database) =>
    findTip(database, after ?? { stream: 'MINER_COUNTER', runs: [] }),
  );
  expect(tip).toBeGreaterThan(5_000);
});
