import { describe, expect, it } from 'vitest';
import { streamNames } from '../../actors/messages/subjects.ts';
import { systemClock } from '../../deploy/process/systemClock.ts';
import { LeaseLost } from '../../streams/ingest/ingestLease.ts';
import { ensureStreams } from '../../streams/jetstream/ensureStreams.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { startContender } from '../support/streams/leaseContender.ts';

async function startServer() {
  const server = await startNats();
  const nats = await connectTo(server);
  await ensureStreams(nats.jsm, { streams: streamNames, retentionDays: 0, logger: silentLogger });
  return { server, nats };
}

describe('the ingest lease', () => {
  it('is held by one process per name; another process waits, names the holder, and takes over after the release', async () => {
    const { nats } = await startServer();
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
    const { server, nats } = await startServer();
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
    const { server, nats } = await startServer();
    const cut = await connectTo(server);
    const first = await startContender(cut).acquired;
    const lost = first.lost.catch((error: unknown) => error);
    const waiting = startContender(nats);
    // The holder is alive, but each message that it publishes is lost.
    const { js } = cut;
    const publish = js.publish.bind(js);
    js.publish = () => Promise.reject(new Error('cut off'));
    const getMessage = cut.jsm.streams.getMessage.bind(cut.jsm.streams);
    cut.jsm.streams.getMessage = () => Promise.reject(new Error('cut off'));
    const second = await waiting.acquired;
    expect(first.isHeld()).toBe(false);
    expect(second.isHeld()).toBe(true);
    js.publish = publish;
    cut.jsm.streams.getMessage = getMessage;
    expect(await lost).toBeInstanceOf(LeaseLost);
    expect(first.isHeld()).toBe(false);
  });

  it('is no longer held after a long suspend, although the monotonic clock stood still', async () => {
    const { nats } = await startServer();
    let suspendedMs = 0;
    const clock = { ...systemClock, bootMs: () => systemClock.bootMs() + suspendedMs };
    const lease = await startContender(nats, 'one', clock).acquired;
    expect(lease.isHeld()).toBe(true);
    suspendedMs = 134_000;
    expect(lease.isHeld()).toBe(false);
    await eventually(() => lease.isHeld(), 'a renewal');
  });

  it('stays with its holder through an outage of the server and a new stream', async () => {
    const { server, nats } = await startServer();
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
