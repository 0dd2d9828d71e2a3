import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { closeNats } from '../../../streams/nats/connection.ts';
import { eventually, startProcess, type TestProcess } from './childProcess.ts';
import { runDeployScript } from './deployScript.ts';
import { findFreePort } from './findFreePort.mjs';
import { whenFinished } from './lifetime.ts';
import { findNewestNatsServer } from './natsCluster.ts';
import { type Replacement, rewriteConfiguration } from './rewriteConfiguration.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

const deployDir = resolve(import.meta.dirname, '../../../deploy');

/** A nats-server of the shipped configuration. */
export interface ShippedServer extends TestProcess {
  readonly port: number;
  /** Port for other servers; null if the configuration has none. */
  readonly routePort: number | null;
  readonly id: string;
  /** Names of the servers that it has routes to. */
  listRoutes(): Promise<string[]>;
}

/** nats-servers of the shipped configuration, with the secrets that the deployment creates. */
interface ShippedNats {
  readonly servers: readonly ShippedServer[];
  /** Folder of the secrets. */
  readonly secrets: string;
  /** Address of the first server with a user and its password. */
  urlOf(user: string): string;
  /** Opens a connection to the first server, which is closed when the test has finished. */
  connectAs(user: string): Promise<NatsConnection>;
}

interface ShippedNatsOptions {
  /** The configuration's file. */
  readonly file?: 'nats.conf' | 'cluster.conf';
  /** Whether the servers have certificates. */
  readonly tls?: boolean;
}

interface RouteReport {
  readonly routes: readonly { readonly remote_name: string }[];
}

/** Starts the one server of `nats.conf`, or the three of `cluster.conf`. */
export async function startShippedNats({
  file = 'nats.conf',
  tls = false,
}: ShippedNatsOptions = {}): Promise<ShippedNats> {
  const { program, minor } = findNewestNatsServer();
  const dir = temporaryDirectory();
  const secrets = join(dir, 'secrets');
  runDeployScript('createSecrets.mjs', secrets);
  if (tls) runDeployScript('createCertificates.mjs', '--folder', secrets);
  const passwords = readFileSync(join(secrets, 'nats-passwords.conf'), 'utf8');
  const names = file === 'nats.conf' ? ['nats-0'] : ['nats-0', 'nats-1', 'nats-2'];
  const routePorts = await Promise.all(names.map(findFreePort));
  const isClustered = names.length > 1;
  const hosts = names.map((name, at): Replacement => [`@${name}.nats:6222`, `@127.0.0.1:${routePorts[at]}`]);

  const start = async (name: string, at: number): Promise<ShippedServer> => {
    const [port, httpPort] = [await findFreePort(), await findFreePort()];
    const folder = join(dir, name);
    mkdirSync(join(folder, 'tls'), { recursive: true });
    cpSync(join(deployDir, 'nats/accounts.conf'), join(folder, 'accounts.conf'));
    writeFileSync(join(folder, 'passwords.conf'), passwords);
    const routes = readFileSync(join(secrets, 'nats-routes.conf'), 'utf8');
    writeFileSync(join(folder, 'routes.conf'), isClustered ? rewriteConfiguration(routes, hosts) : routes);
    const blocks = readFileSync(join(secrets, 'nats-tls/tls.conf'), 'utf8');
    writeFileSync(
      join(folder, 'tls/tls.conf'),
      blocks.replaceAll('/etc/nats/tls', join(secrets, 'nats-tls')),
    );
    const path = join(folder, 'nats.conf');
    writeFileSync(
      path,
      rewriteConfiguration(readFileSync(join(deployDir, 'nats', file), 'utf8'), [
        [/^port: 4222$/gm, `listen: "127.0.0.1:${port}"`],
        ['http_port: 8222', `http: "127.0.0.1:${httpPort}"`],
        ['"/data"', JSON.stringify(join(folder, 'data'))],
        ...(isClustered ? ([['port: 6222', `listen: "127.0.0.1:${routePorts[at]}"`]] as const) : []),
        ...(minor < 10 ? ([['sync_interval: always', '']] as const) : []),
      ]),
    );
    const server = startProcess(program, ['-c', path], { env: { ...process.env, SERVER_NAME: name } });
    const listRoutes = async () => {
      const report = await fetch(`http://127.0.0.1:${httpPort}/routez`);
      const { routes } = (await report.json()) as RouteReport;
      // Some versions have several connections for one route.
      return [...new Set(routes.map(({ remote_name }) => remote_name))].sort();
    };
    await server.written('Server is ready');
    const [, id = ''] = /\bID: +(\w+)/.exec(server.output()) ?? [];
    return Object.assign(server, {
      port,
      routePort: isClustered ? (routePorts[at] ?? null) : null,
      id,
      listRoutes,
    });
  };

  const servers = await Promise.all(names.map(start));
  const [{ port }] = servers as [ShippedServer];
  const urlOf = (user: string) => {
    const [, password = ''] =
      new RegExp(`^${user.toUpperCase()}_PASSWORD: "(.+)"$`, 'm').exec(passwords) ?? [];
    return `${tls ? 'tls' : 'nats'}://${user}:${password}@127.0.0.1:${port}`;
  };
  const connectAs = async (user: string) => {
    const { password } = new URL(urlOf(user));
    const options = {
      servers: `127.0.0.1:${port}`,
      user,
      pass: password,
      reconnect: false,
      ...(tls && { tls: { caFile: join(secrets, 'nats-ca/nats-ca.pem') } }),
    };
    const connection = await eventually(() => connect(options), `a connection of ${user}`);
    whenFinished(() => closeNats(connection));
    return connection;
  };
  return { servers, secrets, urlOf, connectAs };
}
