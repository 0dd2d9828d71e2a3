import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AckPolicy, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';
import { Session } from 'chdb';
import { asapScheduler, lastValueFrom, observeOn, take } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { refusedSubject, streamNames } from '../../../actors/messages/subjects.ts';
import { systemClock } from '../../../deploy/process/systemClock.ts';
import { startOfStream } from '../../../streams/jetstream/proofs/streamPosition.ts';
import { createStreamVerifier } from '../../../streams/jetstream/proofs/streamVerifier.ts';
import { ensureStreams } from '../../../streams/jetstream/settings/ensureStreams.ts';
import {
  counterMessageBytesMax,
  pipelineMessageBytesMax,
} from '../../../streams/jetstream/settings/streamTable.ts';
import { createMessageSource } from '../../../streams/jetstream/source/messageSource.ts';
import { createJetStreamPort } from '../../../streams/nats/jetStreamPort.ts';
import { createGate } from '../../../streams/operators/gate.ts';
import { eventually, temporaryDirectory } from '../../support/processes/lifetime.ts';
import { findNewestNatsServer } from '../../support/processes/natsCluster.ts';
import { startShippedNats } from '../../support/processes/shippedNats.ts';
import { silentLogger } from '../../support/silentLogger.ts';
import { startContender } from '../../support/streams/leaseContender.ts';
import { readDeployFile, readYaml, root } from './deployFiles.ts';

const publishers = [
  ['gateway-wheel.one', 'miner.counter.wheel~one'],
  ['gateway-wheel:two', 'miner.counter.wheel:two'],
  ['modules', 'miner.module.wheel~one.fan'],
  ['signer', 'miner.signer.wheel~one'],
  ['oracle', 'miner.oracle.wheel~one'],
  ['reporter', 'miner.reporter.wheel~one'],
] as const;
const gateways = ['wheel.one', 'wheel:two'];
const rejected = 'miner.rejected.MINER_COUNTER';
const lease = 'miner.lease.id_1';
const span = 'miner.chain.1.span';
/** A busy machine answers late. */
const patient = { timeout: 60_000 };
const inbox = '_INBOX.victim.1';
/** The subjects of all streams. */
const stored = [...publishers.map(([, subject]) => subject), rejected, lease, span];

/** Subjects that each user may publish to the streams. */
const mayStore: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(publishers.map(([user, subject]) => [user, [subject]])),
  ingest: [rejected, lease],
  serve: [],
  index: [span],
};

/** Number of messages by subject, settings and readers of all streams. */
async function readStreams(jsm: JetStreamManager) {
  const messages = new Map<string, number>();
  const streams = [];
  for (const name of streamNames) {
    const { config, state, created } = await jsm.streams.info(name, { subjects_filter: '>' });
    for (const [subject, count] of Object.entries(state.subjects ?? {})) messages.set(subject, count);
    const consumers = (await jsm.consumers.list(name).next()).map(({ name, delivered, config }) => ({
      name,
      delivered,
      config,
    }));
    streams.push({ config, created, consumers });
  }
  return { messages, streams };
}

describe('accounts of NATS', () => {
  it('let each part do its work', async () => {
    const { connectAs, port } = await startShippedNats({ gateways });
    const logger = silentLogger;
    const jetStream = await createJetStreamPort(await connectAs('ingest'), patient.timeout);
    await ensureStreams(jetStream, { streams: streamNames, retentionDays: 0, logger });
    await ensureStreams(jetStream, { streams: streamNames, retentionDays: 30, logger });
    expect(await jetStream.append(rejected, 0, ['1', '2', '3'])).toBe(3);
    const lease = await startContender({ jetStream }, 'id_1').acquired;
    expect(lease.isHeld()).toBe(true);
    await lease.release();

    for (const [user, subject] of publishers) {
      const connection = await connectAs(user);
      const publisher = jetstream(connection, patient);
      const publish = () => publisher.publish(subject, '{}', { msgID: user });
      const { seq } = await publish();
      expect(await publish()).toMatchObject({ seq, duplicate: true });
      const bytesMax = user.startsWith('gateway') ? counterMessageBytesMax : pipelineMessageBytesMax;
      expect(connection.info?.max_payload, user).toBe(bytesMax);
      for (const other of stored)
        if (other !== subject)
          await expect(publisher.publish(other, '{}'), `${user} ${other}`).rejects.toThrow(
            'Permissions Violation',
          );
    }
    const index = await connectAs('index');
    expect((await jetstream(index, patient).publish(span, '{}')).seq).toBe(1);
    expect((await (await jetstreamManager(index)).streams.getMessage('MINER_CHAIN', { seq: 1 }))?.seq).toBe(
      1,
    );

    // A replica reads by the same consumer as an ingesting process.
    const reader = {
      jetStream: await createJetStreamPort(await connectAs('serve')),
      stream: 'MINER_COUNTER',
      clock: systemClock,
      logger,
    } as const;
    const source = createMessageSource({ ...reader, verifier: createStreamVerifier(reader) });
    const batch = await lastValueFrom(
      source
        .batchesAfter(startOfStream, createGate({ max: Number.POSITIVE_INFINITY }))
        .pipe(observeOn(asapScheduler), take(1)),
    );
    expect(batch.position).toBe(gateways.length);

    await expect(connect({ servers: `127.0.0.1:${port}`, reconnect: false })).rejects.toThrow(
      'Authorization',
    );
  });

  it('pass each publisher the notices of its own messages, and no others', async () => {
    const { connectAs } = await startShippedNats({ gateways });
    const heard: string[] = [];
    const connections = [];
    for (const user of [...publishers.map(([publisher]) => publisher), 'serve', 'index', 'operator']) {
      const connection = await connectAs(user);
      connection.subscribe('>', { callback: (_, { subject }) => void heard.push(`${user} ${subject}`) });
      // A wildcard is no way around the import.
      connection.subscribe('miner.refused.*.>', { callback: () => void heard.push(`${user} wildcard`) });
      await connection.flush();
      connections.push(connection);
    }
    const ingest = await createJetStreamPort(await connectAs('ingest'), patient.timeout);
    for (const [, subject] of publishers) ingest.notify(refusedSubject(subject), '{}');
    await eventually(() => heard.length >= 2 * publishers.length, 'the notices');
    for (const [index, connection] of connections.entries())
      for (const [, subject] of publishers)
        if (publishers[index]?.[1] !== subject) connection.publish(refusedSubject(subject), 'forged');
    for (const connection of [...connections, ...connections]) await connection.flush();
    const forged = (line: string) => /^(?:serve|index|operator) /.test(line);
    expect(heard.filter((line) => !forged(line)).sort()).toEqual(
      publishers
        .flatMap(([user, subject]) => [`${user} ${refusedSubject(subject)}`, `${user} wildcard`])
        .sort(),
    );
  });

  it('let nobody change a stream or reach another user by a reply subject', async () => {
    const { connectAs } = await startShippedNats({ gateways });
    const operator = await connectAs('operator');
    const jsm = await jetstreamManager(operator, patient);
    const ingest = await createJetStreamPort(await connectAs('ingest'), patient.timeout);
    await ensureStreams(ingest, { streams: streamNames, retentionDays: 0, logger: silentLogger });
    for (const subject of stored) await jetstream(operator, patient).publish(subject, '{}');
    for (const stream of streamNames)
      await jsm.consumers.add(stream, { durable_name: 'victim', ack_policy: AckPolicy.None });
    const users = Object.keys(mayStore);
    /** Answers by the user who heard them and the user who asked. */
    const heard = new Set<string>();
    let attacker = '';
    for (const user of [...users, 'operator']) {
      const listener = await connectAs(user);
      listener.subscribe('>', {
        callback: (_, { subject }) => {
          // An operator sees everything in the streams' account.
          if (user !== 'operator' || subject === inbox) heard.add(`${user}: answer to ${attacker}`);
        },
      });
      await listener.flush();
    }

    const targets = streamNames.flatMap((stream) => [
      ...['PURGE', 'DELETE', 'MSG.DELETE', 'UPDATE', 'CREATE', 'RESTORE', 'LEADER.STEPDOWN'].map(
        (action) => `$JS.API.STREAM.${action}.${stream}`,
      ),
      `$JS.API.STREAM.PEER.REMOVE.${stream}`,
      ...['CREATE', 'DELETE', 'MSG.NEXT'].map((action) => `$JS.API.CONSUMER.${action}.${stream}.victim`),
    ]);
    const replies = [
      ...targets,
      ...stored,
      inbox,
      '$JS.ACK.MINER_COUNTER.victim.1.1.1.1.0',
      '$SYS.REQ.SERVER.PING',
      '$SYS.REQ.CLAIMS.UPDATE',
    ];
    for (const user of users) {
      attacker = user;
      const connection = await connectAs(user);
      const own = mayStore[user] ?? [];
      const api = ['ingest', 'serve', 'index'].includes(user)
        ? [
            ['$JS.API.INFO', ''],
            ['$JS.API.STREAM.INFO.MINER_CHAIN', ''],
            ['$JS.API.STREAM.MSG.GET.MINER_CHAIN', '{"seq":1}'],
          ]
        : [];
      const before = await readStreams(jsm);
      const isReader = ['ingest', 'serve'].includes(user);
      // Readers may do this to each other, but do not learn the names of other users' readers.
      const isTried = (subject: string) => !(isReader && subject.startsWith('$JS.API.CONSUMER.'));
      for (const reply of replies.filter(isTried))
        for (const [subject, body] of [...own.map((subject) => [subject, '{"seq":1}']), ...api])
          connection.publish(subject as string, body, { reply });
      for (const subject of targets.filter(isTried)) connection.publish(subject, '{"seq":1}');
      // A header that would remove everything before the message.
      const rollup = headers();
      rollup.set('Nats-Rollup', 'all');
      for (const subject of own) connection.publish(subject, '{}', { headers: rollup });
      await connection.flush();
      // Once this one is acknowledged, the earlier ones are stored.
      for (const subject of own) await jetstream(connection).publish(subject, '{}', patient);
      if (isReader)
        for (const [index, subject] of [...targets.filter(isTried), ...stored].entries()) {
          const name = `push_${user}_${index}`;
          const config = { name, deliver_subject: subject, deliver_policy: 'all', ack_policy: 'none' };
          const request = JSON.stringify({ stream_name: 'MINER_CHAIN', config });
          await connection.request(`$JS.API.CONSUMER.CREATE.MINER_CHAIN.${name}`, request, patient);
          await connection.request(`$JS.API.CONSUMER.DELETE.MINER_CHAIN.${name}`, '', patient);
        }
      const after = await readStreams(jsm);
      expect(after.streams, user).toEqual(before.streams);
      expect([...after.messages.keys()], user).toEqual([...before.messages.keys()]);
      // New messages are the user's own, and no message is gone.
      for (const [subject, count] of after.messages)
        if (own.includes(subject))
          expect(count, user).toBeGreaterThanOrEqual(before.messages.get(subject) ?? 0);
        else expect([subject, count], user).toEqual([subject, before.messages.get(subject)]);
    }
    expect([...heard]).toEqual(users.map((user) => `${user}: answer to ${user}`));
  });

  it('belong to a server that syncs a message before it acknowledges it, and has no port for other servers', () => {
    const text = readDeployFile('nats/nats.conf');
    expect(text).toMatch(/^ {2}sync_interval: always$/m);
    expect(text).toMatch(/^include "accounts.conf"$/m);
    expect(text).not.toMatch(/^(?:cluster|gateway|leafnodes|websocket|mqtt)\b/m);
  });

  it('belong to a server of which three make a cluster, as RUNNING.md says', () => {
    const [, block = ''] = /^```\n(cluster \{\n.*?^\}\n)```$/ms.exec(readDeployFile('RUNNING.md')) ?? [];
    const path = join(temporaryDirectory(), 'nats.conf');
    writeFileSync(path, `server_name: nats-0\njetstream {}\n${block}`);
    const { program } = findNewestNatsServer();
    expect(spawnSync(program, ['-t', '-c', path], { encoding: 'utf8' }).stderr).toMatch(/is valid$/m);
  });

  it('run on a server that bounds queues and collects garbage early', () => {
    const text = readDeployFile('compose.yaml');
    // Before 2.11 a publisher that does not wait for acknowledgements took gigabytes within seconds. `npm run interop` tries this line.
    const [, line] = /nats:(2\.\d+)\.\d+-alpine$/m.exec(text) ?? [];
    expect(readFileSync(join(root, 'test/interop/run.sh'), 'utf8')).toMatch(
      new RegExp(`^for version in .*\\bv${line}\\b`, 'm'),
    );
    expect(text).toMatch(/GOMEMLIMIT/);
  });
});

interface Users {
  readonly users: Readonly<Record<string, { readonly grants?: { readonly query: readonly string[] } }>>;
}

it('users of ClickHouse have parseable rights, and replicas only read', () => {
  const { users } = readYaml<Users>('clickhouse/users.yaml');
  const session = new Session(temporaryDirectory());
  onTestFinished(() => session.cleanup());
  const grants = Object.entries(users).flatMap(([user, { grants: of }]) =>
    (of?.query ?? []).map((grant) => [user, grant] as const),
  );
  for (const [user, grant] of grants)
    expect(session.query(`SELECT formatQuerySingleLine('${grant} TO ${user}')`, 'TSVRaw').trim()).toBe(
      `${grant} TO ${user}`,
    );
  expect(grants.filter(([user]) => user === 'serve')).toEqual([['serve', 'GRANT SELECT ON default.*']]);
  const settings = session.query('SELECT name FROM system.merge_tree_settings', 'TSVRaw').split('\n');
  const { merge_tree: used } = readYaml<{ merge_tree: object }>('clickhouse/config.yaml');
  for (const name of Object.keys(used)) expect(settings).toContain(name);
});
