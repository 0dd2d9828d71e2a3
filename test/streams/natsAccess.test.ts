import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConnectionOptions, PeerCertificate } from 'node:tls';
import { connect, type NatsConnection, nkeys } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { reconnectForever } from '../../streams/nats/connection.ts';
import { closeNats } from '../../streams/nats/jetStreamPort.ts';
import { type NatsAccess, readNatsAccess } from '../../streams/nats/natsAccess.ts';
import { createCertificate } from '../support/processes/certificate.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { findFreePort } from '../support/processes/findFreePort.mjs';
import { eventually, shareInFile, temporaryDirectory, whenFinished } from '../support/processes/lifetime.ts';

/** @param settings lines of a nats-server's configuration. */
async function startServer(settings: string) {
  const dir = temporaryDirectory();
  const [port, monitorPort] = [await findFreePort(), await findFreePort()];
  const configuration = join(dir, 'nats.conf');
  writeFileSync(
    configuration,
    `listen: "127.0.0.1:${port}"\nhttp: "127.0.0.1:${monitorPort}"\n${settings}\n`,
  );
  const server = startProcess('nats-server', ['-c', configuration], {
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  });
  await server.written('Server is ready');
  return {
    host: `localhost:${port}`,
    /** The user that the server recognizes. */
    userOf: async (connection: NatsConnection) => {
      interface Connections {
        readonly connections: readonly { readonly cid: number; readonly authorized_user?: string }[];
      }
      const response = await fetch(`http://127.0.0.1:${monitorPort}/connz?auth=1`);
      const { connections } = (await response.json()) as Connections;
      return connections.find(({ cid }) => cid === connection.info?.client_id)?.authorized_user;
    },
  };
}

/** Connects as the service does. */
async function open(access: NatsAccess): Promise<NatsConnection> {
  const connection = await connect({ ...readNatsAccess(access), ...reconnectForever });
  whenFinished(() => closeNats(connection));
  return connection;
}

/** Error of a refused connection, which the service would try again. */
async function refusal(access: NatsAccess): Promise<string> {
  try {
    const connection = await connect({ ...readNatsAccess(access), reconnect: false, timeout: 5_000 });
    await connection.close();
    return 'none';
  } catch (error) {
    return String(error);
  }
}

type Keys = ReturnType<typeof nkeys.createUser>;
const toText = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');

/** A server with TLS and a user with a password. */
const useSecured = shareInFile(async () => {
  const dir = temporaryDirectory();
  const folder = (name: string) => {
    mkdirSync(join(dir, name));
    return createCertificate(join(dir, name), 'localhost');
  };
  const [server, stranger] = [folder('server'), folder('stranger')];
  const { host, userOf } = await startServer(`
    tls { cert_file: "${server.certificate}", key_file: "${server.key}" }
    authorization { users: [{ user: "in g", password: "p@ss:word" }] }`);
  const url = `tls://in%20g:p%40ss%3Aword@${host}`;
  return { host, userOf, url, caFile: server.certificate, stranger };
});

/** A JWT as NATS signs it. */
function signJwt(issuer: Keys, subject: Keys, type: string, members: object = {}): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const nats = { type, version: 2, ...members };
  const [iss, sub] = [issuer.getPublicKey(), subject.getPublicKey()];
  const claims = { jti: type, iat: 1_700_000_000, iss, name: type, sub, nats };
  const signed = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(claims)}`;
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`;
}

describe('NATS with TLS', () => {
  it('accepts a user with a password and the certificate of the server', async () => {
    const { host, url, caFile, userOf } = await useSecured();
    const connection = await open({ url, caFile });
    expect(await userOf(connection)).toBe('in g');
    expect(await refusal({ url: `tls://wrong:password@${host}`, caFile })).toContain(
      'Authorization Violation',
    );
  });

  it('refuses a server without a valid certificate', async () => {
    const { url, stranger } = await useSecured();
    expect(await refusal({ url })).toContain('self-signed certificate');
    expect(await refusal({ url, caFile: stranger.certificate })).toContain('self-signed certificate');
  });

  it('is required if the address says so: a server without it learns nothing', async () => {
    const token = 'sesame-token';
    const { host } = await startServer(`authorization { token: "${token}" }`);
    expect(await refusal({ url: `tls://${token}@${host}` })).toContain("does not support 'tls'");
    const connection = await open({ url: `nats://${token}@${host}` });
    expect(connection.isClosed()).toBe(false);
    expect(await refusal({ url: `nats://wrong@${host}` })).toContain('Authorization Violation');
  });
});

/** The client names no host to Node where it connects to an IP address; Node then assumes `localhost`. */
it.each([
  ['tls://10.0.0.1:1,tls://10.0.0.2:1', 'localhost', '10.0.0.2', undefined],
  ['tls://10.0.0.1:1,tls://10.0.0.2:1', 'localhost', '10.0.0.3', 'IP: 10.0.0.1 is not'],
  ['tls://10.0.0.1:1,tls://a.example:1', 'a.example', '10.0.0.1', 'Cert does not contain a DNS name'],
  ['tls://10.0.0.1:1,tls://localhost:1', 'localhost', '10.0.0.1', 'Cert does not contain a DNS name'],
  ['tls://[::1]:1', 'localhost', '0:0:0:0:0:0:0:1', undefined],
])('at %s, a server called %s with a certificate of %s is refused: %s', (url, name, ip, refused) => {
  const { tls } = readNatsAccess({ url });
  const { checkServerIdentity } = tls as ConnectionOptions;
  const certificate = { subject: {}, subjectaltname: `IP Address:${ip}` } as PeerCertificate;
  const found = checkServerIdentity?.(name, certificate)?.message;
  expect(found).toEqual(refused && expect.stringContaining(refused));
});

it('NATS with accounts of an operator takes a credentials file, and reads it again when it reconnects', async () => {
  const [operator, account] = [nkeys.createOperator(), nkeys.createAccount()];
  const [first, second] = [nkeys.createUser(), nkeys.createUser()];
  const unlimited = { subs: -1, data: -1, payload: -1 };
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1 };
  const permissions = { pub: {}, sub: {} };
  const accountJwt = signJwt(operator, account, 'account', { limits, default_permissions: permissions });
  const operatorJwt = signJwt(operator, operator, 'operator');
  const { host, userOf } = await startServer(`
    operator: ${operatorJwt}
    resolver: MEMORY
    resolver_preload: { ${account.getPublicKey()}: ${accountJwt} }`);
  const credentialsFile = join(temporaryDirectory(), 'ingest.creds');
  const write = (user: Keys, keys = user) => {
    const userJwt = signJwt(account, user, 'user', { ...unlimited, ...permissions });
    writeFileSync(
      credentialsFile,
      `-----BEGIN NATS USER JWT-----\n${userJwt}\n------END NATS USER JWT------\n\n` +
        `-----BEGIN USER NKEY SEED-----\n${toText(keys.getSeed())}\n------END USER NKEY SEED------\n`,
      { mode: 0o600 },
    );
  };
  write(first);
  const connection = await open({ url: `nats://${host}`, credentialsFile });
  expect(await userOf(connection)).toBe(first.getPublicKey());
  write(second);
  await connection.reconnect();
  await eventually(async () => (await userOf(connection)) === second.getPublicKey(), 'the next user');
  write(first, second);
  expect(await refusal({ url: `nats://${host}`, credentialsFile })).toContain('Authorization Violation');
});
