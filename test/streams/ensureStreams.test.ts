import { describe, expect, it } from 'vitest';
import { streamNames, streamSubjects } from '../../actors/messages/subjects.ts';
import { ensureStreams, verifyStreams } from '../../streams/jetstream/ensureStreams.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { silentLogger } from '../support/silentLogger.ts';

describe('streams', () => {
  it('are created as MESSAGES.md has them, and found as they are the next time', async () => {
    const { jsm } = await connectTo(await startNats());
    await ensureStreams(jsm, streamNames, { retentionDays: 0 }, silentLogger);
    const created = await Promise.all(streamNames.map((name) => jsm.streams.info(name)));
    for (const { config } of created) {
      expect(config).toMatchObject({
        subjects: streamSubjects[config.name as (typeof streamNames)[number]],
        storage: 'file',
        discard: 'old',
        retention: 'limits',
        duplicate_window: 120_000_000_000,
        allow_direct: true,
        max_age: 0,
        max_msgs_per_subject: config.name === 'MINER_LEASE' ? 1 : -1,
      });
    }
    await ensureStreams(jsm, streamNames, { retentionDays: 0 }, silentLogger);
    const found = await Promise.all(streamNames.map((name) => jsm.streams.info(name)));
    expect(found.map(({ config }) => config)).toEqual(created.map(({ config }) => config));
  });

  it('take a new retention, and keep their other settings and their messages', async () => {
    const { jsm, js } = await connectTo(await startNats());
    await ensureStreams(jsm, streamNames, { retentionDays: 0 }, silentLogger);
    const { config } = await jsm.streams.info('MINER_COUNTER');
    await jsm.streams.update('MINER_COUNTER', { ...config, max_bytes: 1_000_000_000, description: 'ours' });
    await js.publish('miner.counter.wheel', '{}');
    await ensureStreams(jsm, streamNames, { retentionDays: 7 }, silentLogger);
    const info = await jsm.streams.info('MINER_COUNTER');
    expect(info.config).toMatchObject({
      max_age: 7 * 86_400 * 1e9,
      max_bytes: 1_000_000_000,
      description: 'ours',
    });
    expect(info.state.messages).toBe(1);
    // Each span is linked to the one before it: none may be missing.
    expect((await jsm.streams.info('MINER_CHAIN')).config.max_age).toBe(0);
  });

  it('are inspected, and not changed, by processes that do not ingest', async () => {
    const { jsm } = await connectTo(await startNats());
    expect(await verifyStreams(jsm, ['MINER_CHAIN', 'MINER_COUNTER'], silentLogger)).toEqual([
      'MINER_CHAIN',
      'MINER_COUNTER',
    ]);
    await ensureStreams(jsm, streamNames, { retentionDays: 7 }, silentLogger);
    expect(await verifyStreams(jsm, ['MINER_CHAIN', 'MINER_COUNTER'], silentLogger)).toEqual([]);
    expect((await jsm.streams.info('MINER_COUNTER')).config.max_age).toBe(7 * 86_400 * 1e9);
  });
});
