import { DiscardPolicy } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import { streamNames, streamSubjects } from '../../actors/messages/subjects.ts';
import { ensureStreams, verifyStreams } from '../../streams/jetstream/settings/ensureStreams.ts';
import { eventually } from '../support/processes/lifetime.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { silentLogger } from '../support/silentLogger.ts';
import { collectSource } from '../support/streams/collectedSource.ts';
import { createRemovableStreams } from '../support/streams/removableStreams.ts';
import { createStreams } from '../support/streams/startStreams.ts';

describe('streams', () => {
  it('are created as MESSAGES.md says, and stay unchanged the next time', async () => {
    const { jsm, jetStream } = await connectTo(await startNats());
    await createStreams(jetStream);
    const created = await Promise.all(streamNames.map((name) => jsm.streams.info(name)));
    for (const { config } of created) {
      expect(config).toMatchObject({
        subjects: streamSubjects[config.name as (typeof streamNames)[number]],
        storage: 'file',
        discard: 'old',
        retention: 'limits',
        duplicate_window: config.name === 'MINER_REJECTED' ? 5_000_000_000 : 120_000_000_000,
        allow_direct: true,
        max_age: 0,
        max_msgs_per_subject: config.name === 'MINER_LEASE' ? 1 : -1,
        max_msg_size: { MINER_COUNTER: 65_536, MINER_PIPELINE: 266_240 }[config.name] ?? -1,
        max_bytes: config.name === 'MINER_REJECTED' ? 268_435_456 : -1,
        // Only retention removes folded messages.
        deny_delete: !['MINER_REJECTED', 'MINER_LEASE'].includes(config.name),
        deny_purge: !['MINER_REJECTED', 'MINER_LEASE'].includes(config.name),
      });
    }
    await createStreams(jetStream);
    const found = await Promise.all(streamNames.map((name) => jsm.streams.info(name)));
    expect(found.map(({ config }) => config)).toEqual(created.map(({ config }) => config));
  });

  it('get missing settings, and keep those an operator chose', async () => {
    const { jsm, js, jetStream } = await connectTo(await startNats());
    await createRemovableStreams(jsm);
    const chosen = { max_msg_size: 100_000, discard: DiscardPolicy.New, max_bytes: 1_000_000_000 };
    for (const stream of ['MINER_PIPELINE', 'MINER_REJECTED']) await jsm.streams.update(stream, chosen);
    await ensureStreams(jetStream, { streams: streamNames, retentionDays: 7, logger: silentLogger });
    const read = async (stream: string) => (await jsm.streams.info(stream)).config;
    for (const stream of ['MINER_PIPELINE', 'MINER_REJECTED'])
      expect(await read(stream)).toMatchObject({ ...chosen, max_age: 7 * 86_400 * 1e9 });
    expect(await read('MINER_COUNTER')).toMatchObject({ max_msg_size: 65_536, deny_purge: false });
    // Each span links to its predecessor, so none may be missing.
    expect(await read('MINER_CHAIN')).toMatchObject({ max_msg_size: -1, max_age: 0 });
    expect((await read('MINER_LEASE')).max_age).toBe(0);
    await js.publish('miner.counter.wheel', 'x'.repeat(65_536));
    await expect(js.publish('miner.counter.wheel', 'x'.repeat(65_537))).rejects.toThrow(
      'message size exceeds',
    );
  });

  it('are created without the bound on rejections if the store is smaller', async () => {
    const { jsm, jetStream } = await connectTo(await startNats(undefined, '', 'max_file_store: 60MB'));
    for (const retentionDays of [0, 7]) {
      await ensureStreams(jetStream, { streams: streamNames, retentionDays, logger: silentLogger });
      const { max_bytes, max_age } = (await jsm.streams.info('MINER_REJECTED')).config;
      expect([max_bytes, max_age]).toEqual([-1, retentionDays * 86_400 * 1e9]);
    }
  });

  it.each([
    ['max_streams: 3', 'maximum number of streams reached'],
    ['max_bytes: true', 'account requires a stream config to have max bytes set'],
    ['max_consumers: 1', 'maximum consumers limit reached'],
  ])('say what a limited account lacks: %s', async (limit, said) => {
    const account = `jetstream { max_file: 1GB, ${limit} }, users: [{ user: a, password: b }]`;
    const server = await startNats(undefined, `accounts { A { ${account} } }\nno_auth_user: a`);
    const { jsm, jetStream } = await connectTo(server);
    expect(await jetStream.account()).toMatchObject({ usedBytes: 0, limitBytes: 1024 ** 3 });
    const readAll = async () => {
      await createStreams(jetStream);
      for (const stream of streamNames) await jetStream.deliver(stream, { after: 0, ahead: 10 });
      for (const stream of streamNames) await jetStream.deliver(stream, { after: 0, ahead: 10 });
    };
    await expect(readAll()).rejects.toThrow(`${said}: deploy/RUNNING.md, "NATS of a provider"`);
    if (limit !== 'max_bytes: true') return;
    // An operator creates the streams with sizes, which stay.
    for (const name of streamNames)
      await jsm.streams.add({ name, subjects: streamSubjects[name], max_bytes: 1_000_000 });
    await readAll();
    expect((await jsm.streams.info('MINER_REJECTED')).config).toMatchObject({
      max_bytes: 1_000_000,
      duplicate_window: 5_000_000_000,
    });
  });

  it('stay mirrors, and are read like others', async () => {
    const nats = await connectTo(await startNats());
    const { jsm, js, jetStream } = nats;
    await jsm.streams.add({ name: 'ELSEWHERE', subjects: ['miner.counter.*'] });
    await jsm.streams.add({ name: 'MINER_COUNTER', mirror: { name: 'ELSEWHERE' } });
    const { config } = await jsm.streams.info('MINER_COUNTER');
    await ensureStreams(jetStream, { streams: streamNames, retentionDays: 7, logger: silentLogger });
    expect((await jsm.streams.info('MINER_COUNTER')).config).toEqual(config);
    expect(await verifyStreams(jetStream, streamNames, silentLogger)).toEqual([]);
    for (let message = 1; message <= 3; message++) await js.publish('miner.counter.wheel', `${message}`);
    const { sequences } = collectSource(nats);
    await eventually(() => sequences.length === 3, 'three messages');
  });

  it('are inspected, and not changed, by processes that do not ingest', async () => {
    const { jsm, jetStream } = await connectTo(await startNats());
    const names = ['MINER_CHAIN', 'MINER_COUNTER'] as const;
    expect(await verifyStreams(jetStream, names, silentLogger)).toEqual(names);
    await ensureStreams(jetStream, { streams: streamNames, retentionDays: 7, logger: silentLogger });
    expect(await verifyStreams(jetStream, names, silentLogger)).toEqual([]);
    expect((await jsm.streams.info('MINER_COUNTER')).config.max_age).toBe(7 * 86_400 * 1e9);
  });
});
