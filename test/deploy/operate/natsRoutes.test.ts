import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { closeNats } from '../../../streams/nats/connection.ts';
import { createCertificate } from '../../support/processes/certificate.ts';
import { eventually, startProcess } from '../../support/processes/childProcess.ts';
import { findFreePort } from '../../support/processes/findFreePort.mjs';
import { shareInFile, whenFinished } from '../../support/processes/lifetime.ts';
import { findNewestNatsServer } from '../../support/processes/natsCluster.ts';
import { type ShippedServer, startShippedNats } from '../../support/processes/shippedNats.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { readDeployFile } from './deployFiles.ts';

const useCluster = shareInFile(() => startShippedNats({ file: 'cluster.conf' }));
const useSecuredCluster = shareInFile(() => startShippedNats({ file: 'cluster.conf', tls: true }));

type Cluster = Awaited<ReturnType<typeof startShippedNats>>;

/**
 * Starts a server that wants to join by the first server's port for routes, with an administrator of its own.
 *
 * @param login as `user:password@`, or empty.
 * @param tls a block for its routes, or empty.
 */
async function startRogue({ servers }: Cluster, login = '', tls = '') {
  const [first] = servers as [ShippedServer];
  const before = first.output().length;
  const [port, ownRoutePort] = [await findFreePort(), await findFreePort()];
  const path = join(temporaryDirectory(), 'rogue.conf');
  writeFileSync(
    path,
    `server_name: rogue
    listen: "127.0.0.1:${port}"
    accounts { SYS { users: [{ user: administrator, password: rogue }] } }
    system_account: SYS
    cluster {
      name: miner, listen: "127.0.0.1:${ownRoutePort}", routes: ["nats://${login}127.0.0.1:${first.routePort}"]
      ${tls}
    }`,
  );
  const server = startProcess(findNewestNatsServer().program, ['-c', path]);
  await server.written('Server is ready');
  const administrator = { user: 'administrator', pass: 'rogue' };
  const connection = await connect({ servers: `127.0.0.1:${port}`, ...administrator, reconnect: false });
  whenFinished(() => closeNats(connection));
  return {
    /** What it and the server have written since it started. */
    output: () => `${server.output()}${first.output().slice(before)}`,
    /** Asks the first server what only its administrator may ask. */
    administrate: async () => (await connection.request(`$SYS.REQ.SERVER.${first.id}.VARZ`)).string(),
  };
}

/** Fails unless the cluster refuses the server, and the server's administrator does not reach the cluster. */
async function expectRefusalOfServer(cluster: Cluster, login = '', tls = '') {
  const rogue = await startRogue(cluster, login, tls);
  const refusal = /Authorization Violation|TLS route handshake error/;
  await eventually(() => refusal.test(rogue.output()), 'a refusal');
  await expect(rogue.administrate()).rejects.toThrow('no responders');
  for (const server of cluster.servers) expect(await server.listRoutes()).not.toContain('rogue');
}

/** User and password of the cluster's own servers. */
function readRouteLogin({ secrets }: Cluster): string {
  const passwords = readFileSync(join(secrets, 'nats-routes.conf'), 'utf8');
  const [, password] = /^ROUTE_PASSWORD: "(.+)"$/m.exec(passwords) ?? [];
  return `route:${password}@`;
}

describe.each([
  ['without TLS', useCluster],
  ['with TLS', useSecuredCluster],
] as const)('the servers of a cluster, %s', (_, use) => {
  it('know each other', async () => {
    const { servers, connectAs } = await use();
    for (const [at, server] of servers.entries()) {
      const others = ['nats-0', 'nats-1', 'nats-2'].filter((_name, other) => other !== at);
      await eventually(async () => (await server.listRoutes()).join() === others.join(), 'its routes');
    }
    // They do not send clients to addresses of pods.
    expect((await connectAs('operator')).info?.connect_urls).toBeUndefined();
  });

  it.each([
    ['no password', () => ''],
    ['another password', () => 'route:guessed@'],
    [
      'a user of the accounts',
      ({ urlOf }: Cluster) => {
        const { username, password } = new URL(urlOf('operator'));
        return `${username}:${password}@`;
      },
    ],
  ])('refuse a server with %s', async (_what, findLogin) => {
    const cluster = await use();
    await expectRefusalOfServer(cluster, findLogin(cluster));
  });
});

it('a NATS server with the password is taken into the cluster', async () => {
  const cluster = await useCluster();
  const rogue = await startRogue(cluster, readRouteLogin(cluster));
  const answer = await eventually(
    () => rogue.administrate().catch(() => null),
    'an answer to its administrator',
  );
  expect(answer).toContain('"name":"nats-0"');
});

it('a NATS server also needs a certificate of the authority with TLS', async () => {
  const cluster = await useSecuredCluster();
  const { certificate, key } = createCertificate(temporaryDirectory(), 'nats');
  const own = `tls { cert_file: "${certificate}", key_file: "${key}", ca_file: "${certificate}" }`;
  await expectRefusalOfServer(cluster, readRouteLogin(cluster), own);
});

it('the single server has no port for other servers', () => {
  expect(readDeployFile('nats/nats.conf')).not.toMatch(/^(?:cluster|gateway|leafnodes|websocket|mqtt)\b/m);
  expect(readDeployFile('nats/cluster.conf')).not.toMatch(/^(?:gateway|leafnodes|websocket|mqtt)\b/m);
});
