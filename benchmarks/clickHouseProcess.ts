import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { findFreePort } from '../test/support/processes/findFreePort.ts';
import { writeClickHouseConfiguration } from '../test/support/processes/serverConfigurations.ts';
import { awaitFirstAnswer, createStopper, serverPath } from './childServer.ts';

/** A clickhouse-server of a benchmark, in a folder of its own. */
export interface ClickHouseProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** @throws Error when it does not answer in time. */
export async function startClickHouseProcess(dir: string): Promise<ClickHouseProcess> {
  mkdirSync(dir, { recursive: true });
  const [httpPort, tcpPort] = [await findFreePort(), await findFreePort()];
  const configuration = writeClickHouseConfiguration(dir, { httpPort, tcpPort });
  const child = spawn('clickhouse-server', [`--config-file=${configuration}`], {
    stdio: 'ignore',
    cwd: dir,
    env: { PATH: serverPath },
  });
  const stop = createStopper(child);
  const url = `http://127.0.0.1:${httpPort}`;
  const ping = async () => {
    const { ok } = await fetch(`${url}/ping`);
    if (!ok) throw new Error('not available yet');
  };
  await awaitFirstAnswer('clickhouse-server', ping, stop);
  return { url, stop };
}
