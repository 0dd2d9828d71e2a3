import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { startPublicServer } from '../support/http/publicServer.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const root = resolve(import.meta.dirname, '../..');

it('the package of the client is one file with types, and runs and compiles where nothing else is installed', async () => {
  const dir = temporaryDirectory();
  execFileSync(process.execPath, [join(root, 'http/client/build.mjs')], { stdio: 'pipe' });
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', dir], {
      cwd: join(root, 'http/client'),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as { filename: string; files: { path: string }[] }[];
  const paths = packed?.files.map(({ path }) => path) ?? [];
  expect(paths.filter((path) => path.endsWith('.js'))).toEqual(['dist/index.js']);
  expect(paths).toContain('dist/index.d.ts');
  expect(paths.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))).toEqual([]);
  const installed = join(dir, 'node_modules/mining-activity-client');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['xzf', join(dir, packed?.filename ?? ''), '--strip-components=1', '-C', installed]);

  const { base } = await startPublicServer();
  const program = (type: string) => `
    import { createClient } from 'mining-activity-client';
    const { measurement } = await createClient({ baseUrl: ${JSON.stringify(base)} }).get('/v4/public/process', {});
    const work${type} = measurement === null ? null : measurement.cumulativeWorkUnits;
    console.log(typeof work, String(work));
  `;
  writeFileSync(join(dir, 'program.mjs'), program(''));
  const run = startProcess(process.execPath, ['program.mjs'], { cwd: dir });
  expect(await run.exited).toBe(0);
  expect(run.output()).toContain('bigint ');

  const compile = async (source: string) => {
    writeFileSync(join(dir, 'program.mts'), source);
    const options = [
      '--strict',
      '--noEmit',
      '--module',
      'nodenext',
      '--target',
      'es2023',
      '--lib',
      'es2023,dom',
    ];
    const tsc = startProcess(
      join(root, 'node_modules/.bin/tsc'),
      [...options, '--types', '', 'program.mts'],
      {
        cwd: dir,
      },
    );
    const status = await tsc.exited;
    return { status, output: tsc.output() };
  };
  expect(await compile(program(': bigint | null'))).toEqual({ status: 0, output: '' });
  expect((await compile(program(': string | null'))).output).toContain("Type 'bigint' is not assignable");

  // What its page shows, one after another.
  const readme = readFileSync(join(root, 'http/client/README.md'), 'utf8');
  const shown = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, source]) => source).join('\n');
  const given =
    "import type { Position } from 'mining-activity-client';\nlet saved: string | undefined;\nconst address = '0x';\n";
  expect(await compile(given + shown)).toEqual({ status: 0, output: '' });
});
