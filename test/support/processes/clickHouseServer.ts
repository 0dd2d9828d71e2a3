import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RestartableServer, startProcess, startRestartable, untilReady } from './childProcess.ts';
import { findFreePort } from './findFreePort.mjs';
import { type ClickHouseServerSettings, writeClickHouseConfiguration } from './serverConfigurations.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

const program =
  ['/usr/bin', '/usr/sbin'].map((folder) => join(folder, 'clickhouse-server')).find(existsSync) ?? null;

/** Whether Debian's clickhouse-server is installed. Otherwise, tests that need it are skipped. */
export function clickHouseServerAvailable(): boolean {
  return program !== null;
}

/** A real clickhouse-server for one test of the network path: Debian's version is too old for the tables. */
interface TestClickHouse extends RestartableServer {
  readonly url: string;
}

export async function startClickHouseServer(
  more: Omit<ClickHouseServerSettings, 'httpPort' | 'tcpPort'> = {},
): Promise<TestClickHouse> {
  const dir = temporaryDirectory();
  const [httpPort, tcpPort] = [await findFreePort(), await findFreePort()];
  const configuration = writeClickHouseConfiguration(dir, { httpPort, tcpPort, ...more });
  const url = `http://127.0.0.1:${httpPort}`;
  const run = async () => {
    const server = startProcess(program ?? 'clickhouse-server', [`--config-file=${configuration}`], {
      cwd: dir,
    });
    const answers = async () => (await fetch(`${url}/ping`)).ok;
    await untilReady(server, answers, `clickhouse-server on ${url}`, () =>
      readIfThere(join(dir, 'error.log')),
    );
    return server;
  };
  return Object.assign(await startRestartable(run), { url });
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
