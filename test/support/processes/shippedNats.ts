import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { closeNats } from '../../../streams/nats/jetStreamPort.ts';
import { startProcess, type TestProcess } from './childProcess.ts';
import { createSecrets } from './createSecrets.ts';
import { findFreePort } from './findFreePort.mjs';
import { eventually, temporaryDirectory, whenFinished } from './lifetime.ts';
import { findNewestNatsServer } from './natsCluster.ts';
import { rewriteConfiguration } from './rewriteConfiguration.ts';

const deployDir = resolve(import.meta.dirname, '../../../deploy');

/** A nats-server of the shipped configuration, with the secrets that the deployment creates. */
interface ShippedNats extends TestProcess {
  readonly port: number;
  /** Folder of the secrets. */
  readonly secrets: string;
  /** Address of the server with a user and its password. */
  urlOf(user: string): string;
  /** Opens a connection, which is closed when the test has finished. */
  connectAs(user: string): Promise<NatsConnection>;
}

/** Runs a block of commands of RUNNING.md, "TLS for NATS": the first one prepares the secrets, the second one creates or renews the certificate. */
export function runTlsCommands(step: 1 | 2, cwd: string): void {
  const [, section = ''] =
    /^### TLS for NATS\n(.*?)^## /ms.exec(readFileSync(join(deployDir, 'RUNNING.md'), 'utf8')) ?? [];
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  execFileSync('bash', ['-euc', blocks[step - 1] as string], { cwd, stdio: 'pipe' });
}

/**
 * @param tls whether the server has a certificate.
 * @param gateways installations whose gateways have users.
 */
export async function startShippedNats({ tls = false, gateways = ['wheel.one'] } = {}): Promise<ShippedNats> {
  const { program, minor } = findNewestNatsServer();
  const dir = temporaryDirectory();
  const secrets = join(dir, 'secrets');
  createSecrets(secrets, ...gateways.flatMap((id) => ['--gateway', id]));
  if (tls) {
    runTlsCommands(1, dir);
    runTlsCommands(2, secrets);
  }
  const [passwords = '', accounts = ''] = ['nats-passwords.conf', 'nats-gateways.conf'].map((name) =>
    readFileSync(join(secrets, name), 'utf8'),
  );
  const [port, httpPort] = [await findFreePort(), await findFreePort()];
  const folder = join(dir, 'nats');
  mkdirSync(join(folder, 'tls'), { recursive: true });
  cpSync(join(deployDir, 'nats/accounts.conf'), join(folder, 'accounts.conf'));
  writeFileSync(join(folder, 'passwords.conf'), passwords);
  writeFileSync(join(folder, 'gateways.conf'), accounts);
  const block = readFileSync(join(secrets, 'nats-tls/tls.conf'), 'utf8');
  writeFileSync(join(folder, 'tls/tls.conf'), block.replaceAll('/etc/nats/tls', join(secrets, 'nats-tls')));
  const path = join(folder, 'nats.conf');
  writeFileSync(
    path,
    rewriteConfiguration(readFileSync(join(deployDir, 'nats/nats.conf'), 'utf8'), [
      [/^port: 4222$/gm, `listen: "127.0.0.1:${port}"`],
      ['http_port: 8222', `http: "127.0.0.1:${httpPort}"`],
      ['"/data"', JSON.stringify(join(folder, 'data'))],
      ...(minor < 10 ? ([['sync_interval: always', '']] as const) : []),
    ]),
  );
  const server = startProcess(program, ['-c', path]);
  await server.written('Server is ready');

  const urlOf = (user: string) => {
    const [, password = ''] =
      new RegExp(`^${user.toUpperCase()}_PASSWORD: "(.+)"$`, 'm').exec(passwords) ??
      new RegExp(`user: "${user}", password: "(.+?)"`).exec(accounts) ??
      [];
    return `${tls ? 'tls' : 'nats'}://${encodeURIComponent(user)}:${password}@127.0.0.1:${port}`;
  };
  const connectAs = async (user: string) => {
    const options = {
      servers: `127.0.0.1:${port}`,
      user,
      pass: new URL(urlOf(user)).password,
      reconnect: false,
    };
    const connection = await eventually(() => connect(options), `a connection of ${user}`);
    whenFinished(() => closeNats(connection));
    return connection;
  };
  return Object.assign(server, { port, secrets, urlOf, connectAs });
}
