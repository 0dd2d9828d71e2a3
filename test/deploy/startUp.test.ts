import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stopOrphan } from '../../deploy/local/childServer.ts';
import { startLocalNats } from '../../deploy/local/localNats.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { startProcess } from '../support/processes/childProcess.ts';
import { eventually, temporaryDirectory } from '../support/processes/lifetime.ts';
import { listenHere } from '../support/processes/listenHere.ts';
import { minerCommand, startMinerCommand } from '../support/processes/minerCommand.ts';
import { writeDeployment } from '../support/processes/minerProcess.ts';
import { silentLogger } from '../support/silentLogger.ts';

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A process that has ended stays visible until its new parent has noticed the end.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Files of a folder that this process has open, on Linux. */
function listOpenFiles(dir: string): string[] {
  if (process.platform !== 'linux') return [];
  const readTarget = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ''; // The process that listed them.
    }
  };
  return readdirSync('/proc/self/fd')
    .map(readTarget)
    .filter((path) => path.startsWith(dir));
}

const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

/** Starts the service with its own servers in a folder, on free ports. */
function startRun(dataDir: string, settings: Readonly<Record<string, string>> = {}) {
  return startMinerCommand(['run'], {
    MINER_HTTP_PORT: '0',
    MINER_OPS_PORT: '0',
    MINER_DATA_DIR: dataDir,
    MINER_DEPLOYMENT: writeDeployment(dataDir),
    ...settings,
  });
}

describe('a start', () => {
  it.each(['run', 'local'])('ends before anything else if a port of %s is taken', async (command) => {
    const port = await listenHere(createServer());
    const dataDir = temporaryDirectory();
    const { status, output } = await minerCommand([command], {
      MINER_HTTP_PORT: String(port),
      MINER_OPS_PORT: '0',
      MINER_DATA_DIR: dataDir,
      MINER_DEPLOYMENT: writeDeployment(dataDir),
    });
    expect(output).toContain(
      `cannot listen on 127.0.0.1:${port}: it is taken or not permitted; set MINER_HTTP_PORT`,
    );
    expect(status).toBe(1);
    expect(['nats', 'anvil', 'clickhouse'].filter((name) => existsSync(join(dataDir, name)))).toEqual([]);
  });

  it.each([
    ['MINER_HOST', '203.0.113.7', 'EADDRNOTAVAIL'],
    ['MINER_OPS_HOST', 'no-such-host.invalid', 'E[A-Z]+'],
    ['MINER_HOST', '[::1]', 'E[A-Z]+'],
  ])('says for %s=%s that the address is wrong, not the port', async (setting, host, code) => {
    const dataDir = temporaryDirectory();
    const run = startRun(dataDir, { [setting]: host });
    expect(await run.exited).toBe(2);
    expect(run.output()).toMatch(
      new RegExp(
        `${setting} is "${host.replace(/[.[\]]/g, '\\$&')}"; expected an address of this machine, such as 0.0.0.0 \\(${code}\\)`,
      ),
    );
    expect(existsSync(join(dataDir, 'nats'))).toBe(false);
  });

  it.runIf(hasIPv6)('logs addresses of IPv6 as URLs that a client takes', async () => {
    const run = startRun(temporaryDirectory(), { MINER_HOST: '::', MINER_OPS_HOST: '::1' });
    await run.written('"msg":"listening"');
    const { publicUrl, operatorUrl } = JSON.parse(
      run
        .output()
        .split('\n')
        .find((line) => line.includes('"msg":"listening"')) ?? '',
    );
    expect([publicUrl, operatorUrl].map((url) => new URL(url).hostname)).toEqual(['[::]', '[::1]']);
    for (const url of [publicUrl, operatorUrl]) expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(await run.end('SIGTERM')).toBe(0);
  });

  it('takes a time zone that the embedded ClickHouse does not know', async () => {
    const run = startRun(temporaryDirectory(), { TZ: 'CET-1CEST,M3.5.0,M10.5.0/3' });
    await run.written('"msg":"this process ingests"');
    expect(await run.end('SIGTERM')).toBe(0);
  });

  it.runIf(process.platform === 'linux')('leaves no server behind, even after a kill -9', async () => {
    const dataDir = temporaryDirectory();
    const run = startRun(dataDir);
    await run.written('"msg":"listening"');
    const pid = Number(readFileSync(join(dataDir, 'nats/nats.pid'), 'utf8'));
    expect(isRunning(pid)).toBe(true);
    await run.end('SIGKILL');
    await eventually(() => !isRunning(pid), 'the end of nats-server');
  });

  it('gives the local nats-server the port and token of the last start', async () => {
    const dir = temporaryDirectory();
    const start = async () => {
      const nats = await startLocalNats({ dir, logger: silentLogger });
      await nats.stop();
      return new URL(nats.url);
    };
    const first = await start();
    expect(await start()).toEqual(first);
    await listenHere(createServer(), Number(first.port));
    const other = await start();
    expect(other.port).not.toBe(first.port);
    expect(other.username).toBe(first.username);
    expect(listOpenFiles(dir)).toEqual([]);
  });

  it('stops a server that an earlier run has left, and no other process', async () => {
    const dir = temporaryDirectory();
    const pidFile = join(dir, 'server.pid');
    const settings = { pidFile, mark: '987654', stopMs: 5_000, logger: silentLogger };
    const [left, other] = [startProcess('sleep', ['987654']), startProcess('sleep', ['600'])];
    writeFileSync(pidFile, `${other.pid}\n`);
    await stopOrphan(settings);
    expect(isRunning(other.pid)).toBe(true);
    writeFileSync(pidFile, `${left.pid}\n`);
    await stopOrphan(settings);
    expect(isRunning(left.pid)).toBe(false);
  });
});

it('a draining process answers requests meanwhile, stops in order, and has logged levels, times and its version', async () => {
  const dataDir = temporaryDirectory();
  const run = startRun(dataDir, { MINER_DRAIN_SECONDS: '10' });
  await run.written('"msg":"listening"');
  const [, url, operatorUrl] = /"publicUrl":"(.+?)","operatorUrl":"(.+?)"/.exec(run.output()) ?? [];
  run.child.kill('SIGTERM');
  await eventually(
    async () => (await (await fetch(`${operatorUrl}/readyz`)).text()).includes('the end of this process'),
    'a drain',
  );
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await run.exited).toBe(0);
  expect(run.output()).toContain('"msg":"stopped"');
  for (const line of run.output().match(/^\{.*\}$/gm) ?? [])
    expect(JSON.parse(line)).toMatchObject({
      ...{ service: 'miner', version: packageJson.version, level: expect.stringMatching(/^(?:info|warn)$/) },
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
});
