import { execSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eventually, startProcess } from '../../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../../support/processes/clickHouseEngine.ts';
import { findFreePort } from '../../support/processes/findFreePort.mjs';
import { writeDeployment } from '../../support/processes/minerProcess.ts';
import { startNats } from '../../support/processes/natsServer.ts';
import { temporaryDirectory } from '../../support/processes/temporaryDirectory.ts';
import { containerInstructions, copiedPaths, isIgnored, root } from './deployFiles.ts';

const bytesMax = 400 * 1024 * 1024;

/**
 * The image's build, once for all tests: in a folder with only the files that the Containerfile copies, by its commands. The packages are the installed
 * ones.
 */
const image = mkdtempSync(join(tmpdir(), 'miner-production-'));
afterAll(() => rmSync(image, { recursive: true, force: true }));
const [sources, folder] = [join(image, 'build'), join(image, 'app')];
for (const path of copiedPaths)
  cpSync(join(root, path), join(sources, path), { recursive: true, filter: (from) => !isIgnored(from) });
symlinkSync(join(root, 'node_modules'), join(sources, 'node_modules'));
const [, command = ''] = containerInstructions.filter((line) => line.startsWith('RUN '));
const report = execSync(command.replace('RUN ', '').replace('/app', folder), {
  cwd: sources,
  encoding: 'utf8',
  stdio: 'pipe',
});

const listFiles = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();

/** Starts the installed program with its connections in a file, as in a container. */
async function start(role: string, connections: Readonly<Record<string, string>>) {
  const dir = temporaryDirectory();
  const secret = join(dir, 'connections.env');
  const lines = Object.entries(connections).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(secret, lines.join(''));
  const opsPort = String(await findFreePort());
  const environment = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    // Nothing may be written anywhere: the root file system of a container is read-only.
    HOME: folder,
    TMPDIR: folder,
    MINER_HTTP_PORT: '0',
    MINER_OPS_PORT: opsPort,
    MINER_DEPLOYMENT: writeDeployment(dir),
  };
  const program = ['--enable-source-maps', `--env-file=${secret}`, 'dist/deploy/miner.js', role];
  const started = startProcess(process.execPath, program, { cwd: folder, env: environment });
  const [, publicUrl = '', operatorUrl = ''] = await eventually(
    () => /"publicUrl":(?:"([^"]+)"|null),"operatorUrl":"([^"]+)"/.exec(started.output()),
    `${role} listens`,
  );
  /** Runs the readiness probe of Kubernetes. */
  const probe = () =>
    startProcess(process.execPath, ['dist/deploy/probeIngest.js'], { cwd: folder, env: environment }).exited;
  return { ...started, publicUrl, operatorUrl, probe };
}

/** Runs a command of the installed program to its end. Returns its status and output. */
async function run(command: string, environment: Readonly<Record<string, string>>) {
  const started = startProcess(process.execPath, ['dist/deploy/miner.js', command], {
    cwd: folder,
    env: { PATH: process.env.PATH, MINER_HTTP_PORT: '0', MINER_OPS_PORT: '0', ...environment },
  });
  return [await started.exited, started.output()];
}

describe('a production install', () => {
  const engine = useClickHouseEngine();

  it('has only files that run, and lists their sizes', () => {
    const [, total = ''] = /([\d.]+) MiB {2}total\n$/.exec(report) ?? [];
    expect(Number(total)).toBeGreaterThan(10);
    expect(Number(total) * 1024 * 1024).toBeLessThan(bytesMax);
    expect(report).toMatch(/uwebsockets/i);
    const files = listFiles(folder);
    const unwanted =
      /@foundry-rs|solc|@chdb|typescript\/|vitest|biome|benchmarks|\/bench|(?:darwin|win32).*\.node$/;
    expect(files.filter((file) => unwanted.test(file))).toEqual([]);
    // One native engine, and one build of Swagger UI.
    expect(files.filter((file) => file.endsWith('.node'))).toEqual([
      expect.stringMatching(new RegExp(`/uws_${process.platform}_\\w+\\.node$`)),
    ]);
    expect(files.filter((file) => /swagger-ui[^/]*\.js$/.test(file))).toEqual([
      'node_modules/swagger-ui-dist/swagger-ui-bundle.js',
    ]);
    const again = spawnSync(process.execPath, [join(sources, 'deploy/productionInstall.mjs'), folder]);
    expect(again.stderr.toString()).toContain('name an empty folder');
  });

  it.each([
    ['run', 'MINER_DEPLOYMENT is not set', 2],
    ['index', 'MINER_RPC_URL is not set', 2],
    ['replay', 'expected either --from-sequence or --from-time', 2],
    ['doctor', 'configuration: valid', 1],
    ['openapi', '"openapi": "3.1.0"', 0],
    ['local', 'there is no anvil', 1],
  ])('can load `%s`', async (command, said, status) => {
    const output = await run(command, { MINER_DATA_DIR: temporaryDirectory() });
    expect(output).toEqual([status, expect.stringContaining(said)]);
  });

  it('serves and ingests next to a standby, and stops at a signal', async () => {
    const [nats, clickHouse] = [await startNats(), await engine.createDatabase()];
    const before = listFiles(folder);
    const connections = { MINER_NATS_URL: nats.url, MINER_CLICKHOUSE_URL: clickHouse };
    const service = await start('run', connections);
    const readiness = async (url: string) => (await fetch(`${url}/readyz`)).status;
    await eventually(async () => (await readiness(service.operatorUrl)) === 200, 'readiness');
    const reference = await (await fetch(`${service.publicUrl}/docs/reference`)).text();
    const files = [...reference.matchAll(/(?:href|src)="(\/docs\/[^"]+\.\w+)"/g)].map(
      ([, path = '']) => path,
    );
    expect(files).toContain('/docs/swagger-ui-bundle.js');
    for (const path of ['/v1/status', '/v4/public/process', '/openapi.json', '/docs', '/healthz', ...files])
      expect([path, (await fetch(`${service.publicUrl}${path}`)).status]).toEqual([path, 200]);
    expect(await service.probe()).toBe(0);

    const standby = await start('ingest', connections);
    await eventually(
      async () => (await (await fetch(`${standby.operatorUrl}/readyz`)).text()).includes('standbyFor'),
      'the standby waits',
    );
    expect(await readiness(standby.operatorUrl)).toBe(503);
    expect(await standby.probe()).toBe(0);

    expect(await service.end('SIGTERM')).toBe(0);
    expect(await service.probe()).toBe(1);
    await eventually(async () => (await readiness(standby.operatorUrl)) === 200, 'takeover');
    expect(listFiles(folder)).toEqual(before);
  });

  it.each([
    ['run', 'a file'],
    ['local', '/proc'],
  ])('refuses `%s` in one sentence if its data folder cannot be created below %s', async (command, place) => {
    const deployment = writeDeployment(temporaryDirectory());
    // Nobody can create a folder there, root included.
    const dataDir = join(place === 'a file' ? deployment : place, 'data');
    expect(await run(command, { MINER_DATA_DIR: dataDir, MINER_DEPLOYMENT: deployment })).toEqual([
      2,
      expect.stringMatching(/^the folder \S+ cannot be created \(\w+\); set MINER_DATA_DIR .+\n$/),
    ]);
  });

  it('names the missing setting without a ClickHouse server', async () => {
    const dir = temporaryDirectory();
    const environment = {
      MINER_NATS_URL: 'nats://127.0.0.1:1',
      MINER_DATA_DIR: dir,
      MINER_DEPLOYMENT: writeDeployment(dir),
    };
    expect(await run('run', environment)).toEqual([2, expect.stringContaining('set MINER_CLICKHOUSE_URL')]);
  });
});
