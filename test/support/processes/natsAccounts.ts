import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { closeNats } from '../../../streams/jetstream/connection.ts';
import { eventually, startProcess } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { whenFinished } from './lifetime.ts';
import { findNewestNatsServer } from './natsCluster.ts';
import { writeNatsConfiguration } from './serverConfigurations.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

const deployDir = resolve(import.meta.dirname, '../../../deploy');

/** A nats-server with the shipped accounts. */
interface NatsWithAccounts {
  readonly port: number;
  /** Address with the password of a user. */
  urlOf(user: string): string;
  /** Opens a connection that is closed when the test has finished. */
  connectAs(user: string): Promise<NatsConnection>;
}

export async function startNatsWithAccounts(): Promise<NatsWithAccounts> {
  const dir = temporaryDirectory();
  execFileSync(process.execPath, [join(deployDir, 'createSecrets.mjs'), join(dir, 'secrets')]);
  const secrets = join(dir, 'secrets/nats-passwords.conf');
  copyFileSync(secrets, join(dir, 'passwords.conf'));
  copyFileSync(join(deployDir, 'nats/accounts.conf'), join(dir, 'accounts.conf'));
  const passwords = readFileSync(secrets, 'utf8');
  const port = await findFreePort();
  const configuration = writeNatsConfiguration(dir, port, 'include "accounts.conf"');
  startProcess(findNewestNatsServer().program, ['-c', configuration]);
  const urlOf = (user: string) => {
    const [, password = ''] =
      new RegExp(`^${user.toUpperCase()}_PASSWORD: "(.+)"$`, 'm').exec(passwords) ?? [];
    return `nats://${user}:${password}@127.0.0.1:${port}`;
  };
  const connectAs = async (user: string) => {
    const { password } = new URL(urlOf(user));
    const options = { servers: `127.0.0.1:${port}`, user, pass: password, reconnect: false };
    const connection = await eventually(() => connect(options), `a connection of ${user}`);
    whenFinished(() => closeNats(connection));
    return connection;
  };
  return { port, urlOf, connectAs };
}
