import { expect, it } from 'vitest';
import { inspectDatabase } from '../../deploy/diagnosis/inspectDatabase.ts';
import { noteLineage } from '../../storage/runs/lineages.ts';
import type { Drift } from '../../streams/audit/auditBlock.ts';
import { collectFindings } from '../support/collectFindings.ts';
import { temporaryDirectory } from '../support/processes/lifetime.ts';
import { openTables, storeRows } from '../support/storage/openTables.ts';
import { storedRows } from '../support/storage/readingRows.ts';
import { someLineage } from '../support/storage/someLineage.ts';
import { startStreams } from '../support/streams/startStreams.ts';

const drift: Drift = {
  about: 'block 7',
  differences: ['paused is true in memory and false at the node'],
  repair: 'index',
};

it('the diagnosis goes on after findings of the self-audit, and lists them', async () => {
  const {
    nats: { jetStream },
  } = await startStreams();
  const { created } = await jetStream.info('MINER_COUNTER');
  const { database } = await openTables();
  await storeRows(database, storedRows(1, 60));
  // Of a process that was cut off.
  await storeRows(database, storedRows(61, 1), 'other');
  await noteLineage(database, { ...someLineage, stream: 'MINER_COUNTER', streamCreated: created }, 0);
  const inspect = (drifts: readonly Drift[]) => {
    const dataDir = temporaryDirectory();
    return collectFindings(inspectDatabase({ database, jetStream, deployment: null, dataDir, drifts }));
  };
  const sound = await inspect([]);
  // The stream is empty, so it has lost its end.
  expect(sound.find(({ check }) => check === 'readings')).toMatchObject({
    outcome: 'failed',
    detail: 'ClickHouse holds readings through 60, the stream ends at 0',
  });
  const drifted = await inspect([drift]);
  expect(drifted.filter(({ check }) => check === 'self-audit')).toMatchObject([
    { outcome: 'failed', remedy: 'index' },
  ]);
  expect(drifted).toHaveLength(sound.length + 1);
  await noteLineage(database, { ...someLineage, stream: 'MINER_PIPELINE', streamCreated: 'then' }, 0);
  const lost = (await inspect([])).filter(({ check }) => check === 'lost streams');
  expect(lost).toMatchObject([
    { outcome: 'failed', remedy: expect.stringContaining('MINER_LOST_STREAMS=MINER_PIPELINE@then') },
  ]);
});
