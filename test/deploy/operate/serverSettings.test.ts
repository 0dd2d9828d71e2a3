import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { Session } from 'chdb';
import { asapScheduler, lastValueFrom, observeOn, take } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { streamNames } from '../../../actors/messages/subjects.ts';
import { systemClock } from '../../../deploy/systemClock.ts';
import { closeNats, connectNats } from '../../../streams/jetstream/connection.ts';
import { ensureStreams } from '../../../streams/jetstream/ensureStreams.ts';
import { createMessageSource } from '../../../streams/jetstream/messageSource.ts';
import { acquireLock } from '../../../streams/jetstream/processLock.ts';
import { replaySubject } from '../../../streams/jetstream/replaySubject.ts';
import { startOfStream } from '../../../streams/jetstream/streamPosition.ts';
import { alwaysOpen } from '../../../streams/operators/gate.ts';
import { eventually, startProcess } from '../../support/processes/childProcess.ts';
import { findFreePort } from '../../support/processes/findFreePort.mjs';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../../support/silentLogger.ts';
import { startContender } from '../../support/streams/leaseContender.ts';
import { deployDir, readYaml } from './deployFiles.ts';

/** A nats-server with the accounts of deploy/nats, and connections as their users. */
async function startWithAccounts() {
  const dir = temporaryDirectory();
  execFileSync(process.execPath, [join(deployDir, 'createSecrets.mjs'), join(dir, 'secrets')]);
  copyFileSync(join(deployDir, 'nats/accounts.conf'), join(dir, 'accounts.conf'));
  const passwords = readFileSync(join(dir, 'secrets/nats-passwords.conf'), 'utf8');
  writeFileSync(join(dir, 'passwords.conf'), passwords);
  const port = await findFreePort();
  writeFileSync(
    join(dir, 'nats.conf'),
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${join(dir, 'store')}" }\ninclude "accounts.conf"\n`,
  );
  startProcess('nats-server', ['-c', join(dir, 'nats.conf')], {
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  });
  const connectAs = async (user: string, inboxPrefix = '_INBOX'): Promise<NatsConnection> => {
    const [, pass = ''] = new RegExp(`^${user.toUpperCase()}_PASSWORD: "(.+)"$`, 'm').exec(passwords) ?? [];
    const options = { servers: `127.0.0.1:${port}`, user, pass, inboxPrefix, reconnect: false };
    // The service's own users come by its own way, the address alone.
    const url = `nats://${user}:${pass}@127.0.0.1:${port}`;
    const connection =
      inboxPrefix === '_INBOX'
        ? await connectNats({ url, name: user, logger: silentLogger, signal: new AbortController().signal })
        : await eventually(() => connect(options), `a connection of ${user}`);
    onTestFinished(() => closeNats(connection));
    return connection;
  };
  return { connectAs, port };
}

/** Whether the server lets a user publish to a subject; it says what it refuses. */
async function mayPublish(connection: NatsConnection, subject: string): Promise<boolean> {
  const isRefused = (async () => {
    for await (const status of connection.status())
      if (status.type === 'error' && status.error.message.includes(subject)) return true;
    return false;
  })();
  connection.publish(subject, '{}');
  await connection.flush();
  const wasRefused = await Promise.race([isRefused, connection.rtt().then(() => false)]);
  return !wasRefused;
}

describe('accounts of NATS', () => {
  it('let each part do what it does, and nothing else', async () => {
    const { connectAs, port } = await startWithAccounts();
    const logger = silentLogger;
    const ingest = await connectAs('ingest');
    const [js, jsm] = [jetstream(ingest), await jetstreamManager(ingest)];
    await ensureStreams(jsm, streamNames, { retentionDays: 0 }, logger);
    await ensureStreams(jsm, streamNames, { retentionDays: 30 }, logger);
    const lease = await startContender({ connection: ingest, js, jsm }, 'id_1').acquired;
    expect(lease.isHeld()).toBe(true);
    await lease.release();
    const release = await acquireLock(ingest, replaySubject, 'a replay');
    await expect(acquireLock(await connectAs('ingest'), replaySubject, 'a replay')).rejects.toThrow(
      'running already',
    );
    release();

    // Publishers: their own subjects, and an inbox of their own.
    const publishers = [
      ['gateway', 'miner.counter.wheel~one'],
      ['modules', 'miner.module.wheel~one.fan'],
      ['signer', 'miner.signer.wheel~one'],
      ['oracle', 'miner.oracle.wheel~one'],
      ['reporter', 'miner.reporter.wheel~one'],
    ] as const;
    for (const [user, subject] of publishers) {
      const connection = await connectAs(user, `_INBOX_${user.toUpperCase()}`);
      expect((await jetstream(connection).publish(subject, '{}')).seq).toBeGreaterThan(0);
      for (const [, other] of publishers)
        if (other !== subject)
          expect([user, other, await mayPublish(connection, other)]).toEqual([user, other, false]);
      for (const other of ['miner.chain.1.span', 'miner.lease.id_1', '$JS.API.STREAM.DELETE.MINER_COUNTER'])
        expect([user, other, await mayPublish(connection, other)]).toEqual([user, other, false]);
    }
    const index = await connectAs('index');
    expect((await jetstream(index).publish('miner.chain.1.span', '{}')).seq).toBe(1);
    expect((await (await jetstreamManager(index)).streams.getMessage('MINER_CHAIN', { seq: 1 }))?.seq).toBe(
      1,
    );
    expect(await mayPublish(index, 'miner.counter.wheel~one')).toBe(false);

    // A replica reads, by the same consumer as the one that ingests.
    const serve = await connectAs('serve');
    const source = createMessageSource({
      connection: serve,
      js: jetstream(serve),
      jsm: await jetstreamManager(serve),
      stream: 'MINER_COUNTER',
      clock: systemClock,
      logger,
    });
    const batch = await lastValueFrom(
      source.batchesAfter(startOfStream, alwaysOpen).pipe(observeOn(asapScheduler), take(1)),
    );
    expect(batch.position).toBe(1);
    for (const subject of [
      'miner.counter.wheel~one',
      'miner.rejected.MINER_COUNTER',
      'miner.lease.id_1',
      'miner.replay.running',
      '$JS.API.STREAM.CREATE.MINER_COUNTER',
      '$JS.API.STREAM.UPDATE.MINER_COUNTER',
      '$JS.API.STREAM.PURGE.MINER_COUNTER',
    ])
      expect([subject, await mayPublish(serve, subject)]).toEqual([subject, false]);
    for (const subject of [
      'miner.counter.wheel~one',
      'miner.chain.1.span',
      '$JS.API.STREAM.DELETE.MINER_COUNTER',
    ])
      expect([subject, await mayPublish(ingest, subject)]).toEqual([subject, false]);
    await expect(connect({ servers: `127.0.0.1:${port}`, reconnect: false })).rejects.toThrow(
      'Authorization',
    );
  });

  it('belong to servers that store a message before they acknowledge it', () => {
    for (const file of ['nats.conf', 'cluster.conf']) {
      const text = readFileSync(join(deployDir, 'nats', file), 'utf8');
      expect(text).toMatch(/^ {2}sync_interval: always$/m);
      expect(text).toMatch(/^include "accounts.conf"$/m);
    }
  });
});

describe('users of ClickHouse', () => {
  interface Users {
    readonly users: Readonly<Record<string, { readonly grants?: { readonly query: readonly string[] } }>>;
  }

  it('have rights in words that ClickHouse understands, and a replica only those to read', () => {
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
});
