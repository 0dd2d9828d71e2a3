import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createEmpty } from '../../storage/generations.ts';
import { createReplayLog } from '../../storage/replayLog.ts';
import { resolveTables } from '../../storage/tables.ts';
import { genesisMs } from '../support/genesis.ts';
import { foldAndStop } from '../support/processes/foldAndStop.ts';
import { startMinerCommand } from '../support/processes/minerCommand.ts';
import { startMiner } from '../support/processes/minerProcess.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';

/** Another deployment, so that everything is folded again into the next generation. */
const startMs = genesisMs - 1_800_000;

async function foldReadings(count: number) {
  const { connection, settings, onDatabase, environment } = await foldAndStop(({ connection: publisher }) =>
    publishAll(publisher, mixedPublications(count)),
  );
  const readings = () =>
    onDatabase(async (database, { generation, readings: table }) => {
      const [row] = await database.select(`SELECT uniqExact(position) FROM ${table}`);
      return { generation, count: Number(row?.[0]) };
    });
  return { jsm: connection.jsm, settings, environment, onDatabase, readings };
}

describe('a rebuild into the next generation', () => {
  it('keeps the rows of messages that left the stream after a kill', async () => {
    const { jsm, settings, readings } = await foldReadings(6_000);
    const before = await readings();
    const killed = await startMiner({ ...settings, startMs });
    await killed.written('folded again into the next generation');
    await killed.end('SIGKILL');
    await jsm.streams.purge('MINER_COUNTER', { seq: 5_001 });
    const second = await startMiner({ ...settings, startMs });
    await second.written('the rebuilt generation is the active one');
    await second.end('SIGTERM');
    const after = await readings();
    expect(after.generation).toBeGreaterThan(before.generation);
    expect(after.count).toBeGreaterThanOrEqual(before.count);
  });

  it('ends a replay that was unfinished before it', async () => {
    const { settings, onDatabase, environment } = await foldReadings(6_000);
    const command = { from: { sequence: 1 }, to: null, installationId: null, dryRun: false };
    const plan = {
      generation: 2,
      baseGeneration: 1,
      command: JSON.stringify(command),
      fromSequence: 1,
      throughSequence: 6_000,
      basePosition: null,
      installationId: null,
      dryRun: false,
      identity: { foldVersion: 1, configuration: '' },
    };
    await onDatabase(async (database) => {
      await createEmpty(database, resolveTables(2));
      const log = createReplayLog(database, Date.now);
      await log.note(plan, 'planned');
      await log.note(plan, 'prepared');
    });
    const killed = await startMiner({ ...settings, startMs });
    await killed.written('folded again into the next generation');
    await killed.end('SIGKILL');
    const replay = startMinerCommand(['replay', '--from-sequence', '1'], environment);
    const ended = await Promise.race([replay.exited, sleep(120_000).then(() => 'still running')]);
    expect([ended, replay.output()]).toEqual([0, expect.stringContaining('is active')]);
  });
});
