import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseEngine, describeMachine } from '../../../deploy/engines/chooseEngine.mjs';
import { startProcess } from '../../support/processes/childProcess.ts';
import { useClickHouseEngine } from '../../support/processes/clickHouseEngine.ts';
import { eventually, shareInFile, temporaryDirectory } from '../../support/processes/lifetime.ts';
import { writeDeployment } from '../../support/processes/minerProcess.ts';
import { startNats } from '../../support/processes/natsServer.ts';
import { root } from './deployFiles.ts';

const readDependencies = (path: string) =>
  Object.keys(JSON.parse(readFileSync(join(root, path), 'utf8')).dependencies);

/** The program as the image has it: with neither packages of development nor optional ones. */
const install = shareInFile(async () => {
  const folder = temporaryDirectory();
  cpSync(join(root, 'dist/deploy'), join(folder, 'dist/deploy'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  const engine = `deploy/engines/${chooseEngine(describeMachine())}/package.json`;
  for (const name of [...readDependencies('package.json'), ...readDependencies(engine)]) {
    const target = join(folder, 'node_modules', name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), target);
  }
  return folder;
});

/** Runs a command to its end. Returns its status and output. */
async function run(command: string, environment: Readonly<Record<string, string>>) {
  const started = startProcess(process.execPath, ['dist/deploy/miner.js', command], {
    cwd: await install(),
    env: { PATH: process.env.PATH, MINER_HTTP_PORT: '0', MINER_OPS_PORT: '0', ...environment },
  });
  return [await started.exited, started.output()];
}

describe('the program with the packages of production', () => {
  const engine = useClickHouseEngine();

  it.each([
    ['run', 'MINER_DEPLOYMENT is not set', 2],
    ['index', 'MINER_RPC_URL is not set', 2],
    ['replay', 'cannot be read (ENOENT', 1],
    ['doctor', 'configuration: valid', 1],
    ['openapi', '"openapi": "3.1.0"', 0],
    ['local', 'there is no anvil', 1],
  ])('can load `%s`', async (command, said, status) => {
    const output = await run(command, { MINER_DATA_DIR: temporaryDirectory() });
    expect(output).toEqual([status, expect.stringContaining(said)]);
  });

  it('serves and ingests with its connections in a file, and stops at a signal', async () => {
    const [nats, clickHouse] = [await startNats(), await engine.createDatabase()];
    const dir = temporaryDirectory();
    const connections = join(dir, 'connections.env');
    writeFileSync(connections, `MINER_NATS_URL=${nats.url}\nMINER_CLICKHOUSE_URL=${clickHouse}\n`);
    const program = ['--enable-source-maps', `--env-file=${connections}`, 'dist/deploy/miner.js', 'run'];
    const service = startProcess(process.execPath, program, {
      cwd: await install(),
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        // Nothing may be written anywhere: the root file system of a container is read-only.
        HOME: '/proc',
        TMPDIR: '/proc',
        MINER_HTTP_PORT: '0',
        MINER_OPS_PORT: '0',
        MINER_DEPLOYMENT: writeDeployment(dir),
      },
    });
    const [, publicUrl = '', operatorUrl = ''] = await eventually(
      () => /"publicUrl":"([^"]+)","operatorUrl":"([^"]+)"/.exec(service.output()),
      'it listens',
    );
    await eventually(async () => (await fetch(`${operatorUrl}/readyz`)).ok, 'readiness');
    const reference = await (await fetch(`${publicUrl}/docs/reference`)).text();
    const files = [...reference.matchAll(/(?:href|src)="(\/docs\/[^"]+\.\w+)"/g)].map(
      ([, path = '']) => path,
    );
    expect(files).toContain('/docs/swagger-ui-bundle.js');
    for (const path of ['/v1/status', '/v4/public/process', '/openapi.json', '/docs', '/healthz', ...files])
      expect([path, (await fetch(`${publicUrl}${path}`)).status]).toEqual([path, 200]);
    expect(await service.end('SIGTERM')).toBe(0);
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
    expect(await run('run', environment)).toEqual([
      2,
      expect.stringMatching(
        /^the embedded ClickHouse \(chdb\) is not installed, .* set MINER_CLICKHOUSE_URL$/m,
      ),
    ]);
  });
});
