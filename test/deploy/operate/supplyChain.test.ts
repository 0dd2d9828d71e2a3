import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { chooseEngine, describeMachine } from '../../../deploy/engines/chooseEngine.mjs';
import { checkHttpEngine } from '../../../deploy/process/httpEngine.ts';
import { hasSubstitute } from '../../support/http/hasSubstitute.ts';
import { startProcess } from '../../support/processes/childProcess.ts';
import { temporaryDirectory, whenFinished } from '../../support/processes/lifetime.ts';
import { writeDeployment } from '../../support/processes/minerProcess.ts';
import { silentLogger } from '../../support/silentLogger.ts';
import { root } from './deployFiles.ts';

const readJson = <Content>(path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as Content;

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly link?: boolean;
}
/** Packages of a lock file. Its other entries are folders of this repository, and links to them. */
const readInstalled = (file: string) =>
  Object.entries(readJson<{ packages: Readonly<Record<string, LockedPackage>> }>(file).packages).filter(
    ([path, { link }]) => path.startsWith('node_modules/') && link === undefined,
  );
const installed = readInstalled('package-lock.json');
const mutationFolder = 'test/mutation';

describe('packages', () => {
  it('have a hash in the lock file, and no address', () => {
    for (const [path, { integrity, resolved }] of [
      ...installed,
      ...readInstalled(`${mutationFolder}/package-lock.json`),
    ])
      expect([path, integrity, resolved]).toEqual([
        path,
        expect.stringMatching(/^sha512-.{86}==$/),
        undefined,
      ]);
  });

  it('are not in production if they are of development', () => {
    const names = installed
      .filter(([, { dev, optional, devOptional }]) => !dev && !optional && !devOptional)
      .map(([path]) => path.replace(/^.*node_modules\//, ''));
    expect(names).toEqual(expect.arrayContaining(['uWebSockets.js', '@btc-vision/uwebsockets.js']));
    expect(names.filter((name) => /anvil|solc|rolldown|vitest|typescript|biome/.test(name))).toEqual([]);
  });

  it.each(['.', mutationFolder])('run no script at their installation in %s', (folder) => {
    const cwd = join(root, folder);
    const setting = execFileSync('npm', ['config', 'get', 'ignore-scripts'], { cwd, encoding: 'utf8' });
    expect(setting).toBe('true\n');
  });
});

it('actions of the workflows are named by their commits, with the version in a comment', () => {
  const folder = join(root, '.github/workflows');
  const text = readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  const used = [...text.matchAll(/uses: (.*)$/gm)].map(([, action = '']) => action);
  expect(used.length).toBeGreaterThan(0);
  for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});

/** A checkout for the bootstrap, in which every program that could install something leaves a trace. */
function prepareCheckout() {
  const dir = temporaryDirectory();
  for (const file of [
    'package.json',
    'package-lock.json',
    'deploy/build/bootstrap.mjs',
    'deploy/build/browserNames.mjs',
    'deploy/engines',
  ])
    cpSync(join(root, file), join(dir, file), { recursive: true });
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  for (const program of ['npm', 'apt-get', 'sudo', 'brew']) {
    writeFileSync(join(bin, program), `#!/bin/sh\necho "$@" >> ${join(dir, 'installed')}\n`);
    chmodSync(join(bin, program), 0o755);
  }
  const run = (environment: Record<string, string> = { NODE_ENV: 'production' }) => {
    const env = { PATH: bin, MINER_NATS_URL: 'nats://127.0.0.1:4222', ...environment };
    const { status, stderr } = spawnSync(process.execPath, [join(dir, 'deploy/build/bootstrap.mjs'), 'run'], {
      env,
      encoding: 'utf8',
    });
    return { status, stderr, hasInstalled: existsSync(join(dir, 'installed')) };
  };
  return { dir, run };
}

describe('a start in development', () => {
  it.each([
    ['of this machine', {}, chooseEngine(describeMachine())],
    ['with the substitute, if it is forced', { UWS_USE_FALLBACK: '1' }, 'legacy'],
  ] as const)('installs the HTTP engine %s, and no other', (_, environment, engine) => {
    const { dir, run } = prepareCheckout();
    mkdirSync(join(dir, 'node_modules'));
    expect(run(environment)).toMatchObject({ status: 0, hasInstalled: true });
    const [first = '', ...further] = readFileSync(join(dir, 'installed'), 'utf8').trim().split('\n');
    expect(first.split(' ').filter((option) => option.includes('workspace'))).toEqual([
      `--workspace=deploy/engines/${engine}`,
      '--include-workspace-root',
    ]);
    expect(further).toEqual([]);
    const { workspaces } = readJson<{ workspaces: string[] }>('package.json');
    expect(workspaces).toContain(`deploy/engines/${engine}`);
  });

  it.each([
    ['was killed, installs everything again', 'kill -9 $$', ['node_modules/p*']],
    ['was killed with the start, does so too', 'kill -9 $PPID $$', ['node_modules/p*']],
    ['has failed, keeps what is installed', 'exit 1', []],
  ])('after an npm that %s', (_, ending, listedAfterwards) => {
    const { dir, run } = prepareCheckout();
    mkdirSync(join(dir, 'node_modules/package'), { recursive: true });
    const [manifest, listed] = [join(dir, 'package.json'), join(dir, 'listed')];
    const startWith = (last: string) => {
      writeFileSync(join(dir, 'bin/npm'), `#!/bin/sh\necho node_modules/p* >> ${listed}\n${last}\n`);
      return run({}).status;
    };
    expect(startWith('exit 0')).toBe(0);
    const before = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, `${before}\n`);
    expect(startWith(ending)).not.toBe(0);
    writeFileSync(manifest, before);
    expect([startWith('exit 0'), startWith('exit 0')]).toEqual([0, 0]);
    expect(readFileSync(listed, 'utf8').trim().split('\n')).toEqual([
      'node_modules/package',
      'node_modules/package',
      ...listedAfterwards,
    ]);
  });
});

describe('a start in production', () => {
  it('installs and builds nothing, and says so without a build', () => {
    const { dir, run } = prepareCheckout();
    const first = run();
    expect(first).toMatchObject({ status: 1, hasInstalled: false });
    expect(first.stderr).toContain('NODE_ENV is production, so nothing is installed or built');
    mkdirSync(join(dir, 'dist/deploy'), { recursive: true });
    writeFileSync(join(dir, 'dist/deploy/miner.js'), '');
    expect(run()).toEqual({ status: 0, stderr: '', hasInstalled: false });
  });

  if (hasSubstitute)
    it('is refused without the native HTTP engine, unlike a start in development', async () => {
      const dir = temporaryDirectory();
      const start = (environment: Record<string, string>) =>
        startProcess(process.execPath, [join(root, 'dist/deploy/miner.js'), 'run'], {
          env: {
            PATH: process.env.PATH,
            UWS_USE_FALLBACK: '1',
            MINER_HTTP_PORT: '0',
            MINER_OPS_PORT: '0',
            MINER_NATS_URL: 'nats://127.0.0.1:1',
            MINER_CLICKHOUSE_URL: 'http://127.0.0.1:1',
            MINER_DEPLOYMENT: writeDeployment(dir),
            ...environment,
          },
        });
      const refused = start({ NODE_ENV: 'production' });
      expect(await refused.exited).toBe(2);
      expect(refused.output()).toContain('NODE_ENV is production, and the native HTTP engine does not load');
      const accepted = start({});
      await accepted.written('the native HTTP engine is not in use');
      await accepted.written('"msg":"listening"}');
    });

  it.each([
    [true, 1],
    [false, 0],
  ])('warns of older systems (%s) so many times: %i', (isOld, warnings) => {
    const warn = vi.fn();
    checkHttpEngine({ implementation: 'native', isOld }, { warn } as unknown as Logger);
    expect(warn).toHaveBeenCalledTimes(warnings);
  });

  it.each([
    ['test', 'fallback', true],
    ['production', 'fallback', false],
    ['production', 'native', true],
  ] as const)('decides in %s with the %s engine: %s', (environment, implementation, isAccepted) => {
    vi.stubEnv('NODE_ENV', environment);
    whenFinished(() => void vi.unstubAllEnvs());
    const check = () => checkHttpEngine({ implementation, isOld: false }, silentLogger);
    if (isAccepted) expect(check).not.toThrow();
    else expect(check).toThrow('install a version of Node and a system that it is built for');
  });
});
