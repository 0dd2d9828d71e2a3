import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { streamNames } from '../../actors/messages/subjects.ts';
import { openDatabase } from '../../storage/database.ts';
import { readDatabaseIdentity } from '../../storage/ingestEpochs.ts';
import { ensureStreams } from '../../streams/jetstream/ensureStreams.ts';

import { eventually } from '../support/processes/childProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { type HeldLease, startContender } from '../support/streams/leaseContender.ts';

/** Milliseconds for which both contenders claim to hold the lease. */
async function measureBothHeldMs(first: HeldLease, second: HeldLease, forMs: number): Promise<number> {
  let together = 0;
  for (let waited = 0; waited < forMs; waited += 50) {
    if (first.isHeld() && second.isHeld()) together += 50;
    await sleep(50);
  }
  return together;
}

describe('the ingest lease is held by one', () => {
  it('when an answer to the standby takes long', async () => {
    const server = await startNats();
    const [one, two] = [await connectTo(server), await connectTo(server)];
    await ensureStreams(one.jsm, { streams: streamNames, retentionDays: 0, logger: silentLogger });
    const first = await startContender(one).acquired;
    // The standby's first request reaches the server late, within the client's limit of five seconds.
    const ask = two.jsm.streams.getMessage.bind(two.jsm.streams);
    let isLate = true;
    two.jsm.streams.getMessage = async (...asked) => {
      if (isLate) await sleep(4_500);
      isLate = false;
      return ask(...asked);
    };
    const waiting = startContender(two);
    await eventually(() => waiting.seen.length > 0, 'the late answer');
    // From now on the holder receives nothing.
    one.js.publish = () => Promise.reject(new Error('cut off'));
    one.jsm.streams.getMessage = () => Promise.reject(new Error('cut off'));
    const second = await waiting.acquired;
    expect(await measureBothHeldMs(first, second, 2_500)).toBe(0);
  });

  it('when the messages of its stream are purged', async () => {
    const server = await startNats();
    const [one, two] = [await connectTo(server), await connectTo(server)];
    await ensureStreams(one.jsm, { streams: streamNames, retentionDays: 0, logger: silentLogger });
    const first = await startContender(one).acquired;
    const waiting = startContender(two);
    await eventually(() => waiting.seen.length > 0, 'a standby');
    // The holder's connection hangs while an operator purges the stream.
    one.js.publish = () => Promise.reject(new Error('cut off'));
    one.jsm.streams.getMessage = () => Promise.reject(new Error('cut off'));
    await two.jsm.streams.purge('MINER_LEASE');
    const second = await waiting.acquired;
    expect(await measureBothHeldMs(first, second, 4_500)).toBe(0);
  });

  it('when many processes start with a new database', async () => {
    const database = openDatabase({ path: temporaryDirectory() });
    onTestFinished(() => database.close());
    const names = await Promise.all(Array.from({ length: 12 }, () => readDatabaseIdentity(database)));
    expect(new Set(names).size).toBe(1);
    expect(await readDatabaseIdentity(database)).toBe(names[0]);
  });
});
