import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { routes } from '../../http/routes/routes.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const root = resolve(import.meta.dirname, '../..');

it('clients of other generators compile under strict and know each answer', async () => {
  const dir = temporaryDirectory();
  const document = join(dir, 'openapi.json');
  writeFileSync(document, JSON.stringify(createOpenApiDocument()));
  const run = async (program: string, ...parameters: string[]) => {
    const child = startProcess(process.execPath, [join(root, program), ...parameters], { cwd: dir });
    expect([await child.exited, child.output()]).toEqual([0, '']);
  };
  await run('test/support/clients/generateClients.mjs', document, dir);
  const uses = routes.flatMap(({ path, operationId }, index) => {
    const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Response`;
    const body = `paths['${path}']['get']['responses'][200]['content']['application/json']`;
    return [
      `export const one${index} = (body: ${body}): number => body.schemaVersion;`,
      `export const other${index} = (body: client.${name}): number => body.schemaVersion;`,
    ];
  });
  const days = `export const days = (body: client.GetStatisticsResponse): string[] => body.activity.days.map(({ date }) => date);
    export const same = (body: components['schemas']['Statistics']): string[] => body.activity.days.map(({ date }) => date);`;
  const imports = `import type { components, paths } from './types';\nimport * as client from './client';`;
  const call = 'export const call = client.getProcess;';
  writeFileSync(join(dir, 'uses.ts'), [imports, ...uses, days, call].join('\n'));
  const options =
    '--strict --noEmit --module esnext --moduleResolution bundler --target es2023 --lib es2023,dom,dom.iterable';
  await run('node_modules/typescript/bin/tsc', ...options.split(' '), '--types', '', 'uses.ts');
});
