import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect, it } from 'vitest';
import { startPublicServer } from '../support/http/publicServer.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const root = resolve(import.meta.dirname, '../..');

it('the client is installed from the service, as module and CommonJS', async () => {
  const dir = temporaryDirectory();
  const { base, get } = await startPublicServer();
  const { version, integrity } = JSON.parse(readFileSync(join(root, 'dist/package/client.json'), 'utf8'));
  const page = await (await get('/docs/client')).text();
  expect([page.includes(version), page.includes(integrity)]).toEqual([true, true]);
  // Asynchronous, since this process serves the package.
  const install = startProcess('npm', ['install', '--no-audit', `${base}/docs/client.tgz`], { cwd: dir });
  expect([await install.exited, install.output()]).toEqual([0, expect.stringContaining('added 1 package')]);
  expect(readFileSync(join(dir, 'package-lock.json'), 'utf8')).toContain(integrity);
  const installed = join(dir, 'node_modules/mining-activity-client/dist');
  const paths = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  expect(paths.filter((path) => path.endsWith('.js')).sort()).toEqual(['cjs/index.js', 'index.js']);
  expect(paths.filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))).toEqual([]);
  expect(paths).toContain('schemas/CounterReadingMessage.json');

  const program = (type: string) => `
    import { createClient } from 'mining-activity-client';
    const { measurement } = await createClient({ baseUrl: ${JSON.stringify(base)} }).get('/v4/public/process');
    const work${type} = measurement === null ? null : measurement.cumulativeWorkUnits;
    console.log(typeof work, String(work));
  `;
  writeFileSync(join(dir, 'program.mjs'), program(''));
  const run = startProcess(process.execPath, ['program.mjs'], { cwd: dir });
  expect(await run.exited).toBe(0);
  expect(run.output()).toContain('bigint ');
  const required =
    "const { createClient } = require('mining-activity-client'); console.log(typeof createClient)";
  const fromCommonJs = startProcess(process.execPath, ['-e', required], { cwd: dir });
  expect([await fromCommonJs.exited, fromCommonJs.output()]).toEqual([0, 'function\n']);

  const compile = async (module: string, files: Readonly<Record<string, string>>) => {
    for (const [name, source] of Object.entries(files)) writeFileSync(join(dir, name), source);
    const options = `--strict --noEmit --module ${module} --target es2023 --lib es2023,dom --types`.split(
      ' ',
    );
    const tsc = startProcess(join(root, 'node_modules/.bin/tsc'), [...options, '', ...Object.keys(files)], {
      cwd: dir,
    });
    expect([await tsc.exited, tsc.output()]).toEqual([0, '']);
  };
  // All programs of its page, one after another.
  const readme = readFileSync(join(root, 'http/client/README.md'), 'utf8');
  const shown = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, source]) => source).join('\n');
  const given =
    "import type { Position } from 'mining-activity-client';\nlet saved: string | undefined;\nconst address = '0x';\n";
  await compile('nodenext', {
    'program.mts': `${program(': bigint | null')}
      // @ts-expect-error A decimal is no text.
      export const text: string | null = work;`,
    'readme.mts': given + shown,
  });
  await compile('node16', {
    'program.cts': `
      import { createClient } from 'mining-activity-client';
      const client = createClient({ baseUrl: '' });
      export const status = client.get('/v1/status');
      // @ts-expect-error Its range is missing.
      export const statistics = client.get('/v2/public/stats');`,
  });
});

it('the schemas of messages are served, and accept the examples of messages', async () => {
  const { get } = await startPublicServer();
  const { messages } = (await (await get('/schemas')).json()) as { messages: Record<string, string> };
  const examples = readFileSync(join(root, 'streams/messageExamples.txt'), 'utf8').trimEnd().split('\n');
  const schemas: Record<string, string> = {
    CounterReadingMessage: 'counter.my~wheel',
    ModuleSnapshotMessage: 'module.my~wheel.sensor-1',
    SignerMessage: 'signer.my~wheel',
    OracleMessage: 'oracle.my~wheel',
    ReporterMessage: 'reporter.my~wheel',
    ChainSpanMessage: 'chain.1.span',
    ChainReadsMessage: 'chain.1.reads',
  };
  expect(Object.keys(messages)).toEqual(Object.keys(schemas));
  for (const [name, path] of Object.entries(messages)) {
    const response = await get(path);
    expect(response.headers.get('content-type')).toBe('application/schema+json');
    const ajv = new Ajv2020();
    formats.default(ajv);
    const validate = ajv.compile((await response.json()) as object);
    const subject = `miner.${schemas[name]} `;
    const bodies = examples.filter((line) => line.startsWith(subject));
    expect(bodies).not.toEqual([]);
    for (const body of bodies)
      expect([body, validate(JSON.parse(body.slice(subject.length)))]).toEqual([body, true]);
    expect(validate({})).toBe(false);
  }
});
