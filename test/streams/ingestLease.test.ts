import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../deploy/process/systemClock.ts';
import { openDatabase } from '../../storage/database.ts';
import { readDatabaseIdentity } from '../../storage/ingestEpochs.ts';
import { LeaseLost } from '../../streams/ingest/ingestLease.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { connectTo, type TestConnection } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { type HeldLease, startContender } from '../support/streams/leaseContender.ts';
import { startStreams } from '../support/streams/startStreams.ts';

/** Lets every request of a contender fail, until the returned function is called. */
function cutOff({ js, jsm }: TestConnection): () => void {
  const publish = js.publish.bind(js);
  const getMessage = jsm.streams.getMessage.bind(jsm.streams);
  js.publish = () => Promise.reject(new Error('cut off'));
  jsm.streams.getMessage = () => Promise.reject(new Error('cut off'));
  return () => {
    js.publish = publish;
    jsm.streams.getMessage = getMessage;
  };
}

/** Milliseconds for which both contenders claim to hold the lease. */
async function measureBothHeldMs(first: HeldLease, second: HeldLease, forMs: number): Promise<number> {
  let together = 0;
  for (let waited = 0; waited < forMs; waited += 50) {
    if (first.isHeld() && second.isHeld()) together += 50;
    await sleep(50);
  }
  return together;
}

describe('the ingest lease', () => {
  it('is held by one process per name; another process waits, names the holder, and takes over after the release', async () => {
    const { nats } = await startStreams();
    const first = await startContender(nats).acquired;
    const waiting = startContender(nats);
    await startContender(nats, 'two').acquired;
    await eventually(() => waiting.seen.length > 0, 'a standby');
    expect(waiting.seen[0]).toMatchObject({ pid: process.pid });
    expect(first.isHeld()).toBe(true);
    await first.release();
    const second = await waiting.acquired;
    expect(second.isHeld()).toBe(true);
    expect(waiting.seen.at(-1)).toBeNull();
  });

  it('is granted to one of many that want it at the same moment', async () => {
    const { server, nats } = await startStreams();
    const others = await Promise.all(Array.from({ length: 6 }, () => connectTo(server)));
    let holders = 0;
    const contenders = [nats, ...others].map((one) => startContender(one));
    for (const { acquired } of contenders)
      acquired.then(
        () => holders++,
        () => undefined,
      );
    // By then the losers have asked again, and found a holder.
    await eventually(() => contenders.every(({ seen }) => seen.length > 0), 'a holder and six standbys');
    expect(holders).toBe(1);
  });

  it('expires for its holder before another process takes over, and is lost then', async () => {
    const { server, nats } = await startStreams();
    const cut = await connectTo(server);
    const first = await startContender(cut).acquired;
    const lost = first.lost.catch((error: unknown) => error);
    const waiting = startContender(nats);
    // The holder is alive, but each message that it publishes is lost.
    const reconnect = cutOff(cut);
    const second = await waiting.acquired;
    expect(first.isHeld()).toBe(false);
    expect(second.isHeld()).toBe(true);
    reconnect();
    expect(await lost).toBeInstanceOf(LeaseLost);
    expect(first.isHeld()).toBe(false);
  });

  it('is no longer held after a long suspend, although the monotonic clock stood still', async () => {
    const { nats } = await startStreams();
    let suspendedMs = 0;
    const clock = { ...systemClock, bootMs: () => systemClock.bootMs() + suspendedMs };
    const lease = await startContender(nats, 'one', clock).acquired;
    expect(lease.isHeld()).toBe(true);
    suspendedMs = 134_000;
    expect(lease.isHeld()).toBe(false);
    await eventually(() => lease.isHeld(), 'a renewal');
  });

  it('stays with its holder through an outage of the server and a new stream', async () => {
    const { server, nats } = await startStreams();
    const lease = await startContender(nats).acquired;
    await server.kill();
    await eventually(() => !lease.isHeld(), 'a lapse');
    await server.start();
    await eventually(() => lease.isHeld(), 'a renewal');
    await nats.jsm.streams.delete('MINER_LEASE');
    await eventually(
      async () => (await nats.jsm.streams.info('MINER_LEASE')).state.last_seq > 2,
      'renewals in a new stream',
    );
    expect(lease.isHeld()).toBe(true);
  });
});

describe('the ingest lease is held by one', () => {
  it('when an answer to the standby takes long', async () => {
    const { server, nats: one } = await startStreams();
    const two = await connectTo(server);
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
    cutOff(one);
    const second = await waiting.acquired;
    expect(await measureBothHeldMs(first, second, 2_500)).toBe(0);
  });

  it('when the messages of its stream are purged', async () => {
    const { server, nats: one } = await startStreams();
    const two = await connectTo(server);
    const first = await startContender(one).acquired;
    const waiting = startContender(two);
    await eventually(() => waiting.seen.length > 0, 'a standby');
    // The holder's connection hangs while an operator purges the stream.
    cutOff(one);
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
