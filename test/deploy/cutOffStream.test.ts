import { describe, expect, it, onTestFinished } from 'vitest';
import { planReplay, type ReplayRequest } from '../../deploy/commands/replay/replayPlan.ts';
import { checkSnapshots } from '../../deploy/diagnosis/checkSnapshots.ts';
import { openDatabase } from '../../storage/database.ts';
import { noteGeneration } from '../../storage/generationIdentity.ts';
import { migrate } from '../../storage/migrations.ts';
import { createReplayLog } from '../../storage/replayLog.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';

const stream = 'MINER_COUNTER';
const identity = { foldVersion: 1, configuration: 'ours' };
const nowMs = () => Date.now();

/** A stream that holds its messages from `firstHeld` through 12, with states saved after the messages 3, 6 and 9. */
async function startCutOff(firstHeld: number) {
  const { js, jsm } = await connectTo(await startNats());
  await createRemovableStreams(jsm, [stream]);
  for (let message = 1; message <= 12; message++) await js.publish('miner.counter.wheel', '{}');
  const database = openDatabase({ path: temporaryDirectory() });
  onTestFinished(() => database.close());
  const tables = await migrate(database, silentLogger);
  const snapshots = createSnapshotStore({ database, tables: () => tables, logger: silentLogger });
  const { created: streamCreated } = await jsm.streams.info(stream);
  for (const position of [3, 6, 9])
    await snapshots.saveBase(
      { ...identity, stream, streamCreated, position, digest: null, takenAtMs: nowMs() },
      [],
    );
  // The server takes 1 for every message.
  if (firstHeld > 1) await jsm.streams.purge(stream, { seq: firstHeld });
  const log = createReplayLog(database, nowMs);
  return {
    jsm,
    /** Notes which fold has made the rows. */
    note: (maker: typeof identity) =>
      noteGeneration(database, { ...maker, generation: 1, streamCreated, atMs: nowMs() }),
    plan: async (from: number, to: ReplayRequest['to'] = null, own = identity) => {
      const parts = { js, jsm, database, tables, snapshots, identity: own, log, nowMs };
      const rest = { installationId: null, dryRun: true, isIncomplete: false };
      return (await planReplay(parts, { from: { sequence: from }, to, ...rest })).plan;
    },
    check: async () => (await checkSnapshots({ jsm, snapshots, folds: [[stream, identity]], nowMs }))[0],
  };
}

describe('a replay', () => {
  it.each([
    [1, 4, 3],
    [1, 6, 3],
    [4, 4, 3],
    [4, 7, 6],
    [5, 7, 6],
    [7, 7, 6],
  ])(
    'of a stream that begins at %d continues, from message %d on, the state after message %s',
    async (firstHeld, from, basePosition) => {
      const { plan } = await startCutOff(firstHeld);
      expect(await plan(from)).toMatchObject({ fromSequence: from, throughSequence: 9, basePosition });
    },
  );

  it('is refused where a message is missing between every state and its first one', async () => {
    const { plan } = await startCutOff(5);
    await expect(plan(5)).rejects.toThrow('begin at 7 or above');
  });

  it('is refused if another version or another deployment file made the rows', async () => {
    const { note, plan } = await startCutOff(1);
    await note(identity);
    for (const other of [{ foldVersion: 2 }, { configuration: 'theirs' }])
      await expect(plan(1, null, { ...identity, ...other })).rejects.toThrow('made with another version');
  });

  it('ends with the last message that was stored by its time, in the millisecond of that time too', async () => {
    const { jsm, plan } = await startCutOff(1);
    const time = (await jsm.streams.getMessage(stream, { seq: 9 }))?.time as Date;
    expect((await plan(1, { time })).throughSequence).toBe(9);
  });
});

describe('the newest state', () => {
  it.each([
    [10, 'ok'],
    [11, 'warning'],
  ])('after message 9, of a stream that begins at %d, is %s', async (firstHeld, outcome) => {
    const { check } = await startCutOff(firstHeld);
    expect(await check()).toMatchObject({ outcome });
  });
});
