import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bindToParent } from '../deploy/local/bindToParent.ts';
import { findFreePort } from '../test/support/processes/findFreePort.mjs';
import { awaitFirstAnswer, createStopper } from './serverChild.ts';

/** Debian's clickhouse-server is too old for the tables: this is the embedded engine behind ClickHouse's HTTP interface. */
const program = fileURLToPath(
  new URL('../../test/support/processes/clickHouseEngineProcess.mjs', import.meta.url),
);

/** A ClickHouse server of a benchmark, in a folder of its own. */
interface ClickHouseProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** @throws Error when it does not answer in time. */
export async function startClickHouseProcess(dir: string): Promise<ClickHouseProcess> {
  mkdirSync(dir, { recursive: true });
  const port = await findFreePort();
  const child = spawn(...bindToParent(process.execPath, [program, join(dir, 'data'), String(port)]), {
    stdio: 'ignore',
  });
  const stop = createStopper(child);
  const url = `http://127.0.0.1:${port}`;
  const ping = async () => {
    const { ok } = await fetch(`${url}/ping`);
    if (!ok) throw new Error('not available yet');
  };
  await awaitFirstAnswer('the ClickHouse engine', ping, stop);
  return { url, stop };
}
