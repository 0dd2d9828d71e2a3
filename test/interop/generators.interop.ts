import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, type TestContext } from 'vitest';
import { examples } from '../../http/routes/documentation/examples.ts';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { toOpenApi30 } from '../../http/routes/documentation/openApi30.ts';
import { nameBody } from '../../http/routes/route.ts';
import { routes } from '../../http/routes/routes.ts';
import { startLocalService } from '../support/explorer/localService.ts';
import { listSnippets } from '../support/http/guideSnippets.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { recordExamples } from '../support/http/recordExamples.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { shareInFile, temporaryDirectory } from '../support/processes/lifetime.ts';

const document = JSON.parse(JSON.stringify(createOpenApiDocument()));
const operationIds = Object.values<{ get: { operationId: string } }>(document.paths).map(
  ({ get }) => get.operationId,
);

interface Case {
  readonly operation: string;
  readonly schema: string;
  readonly body: unknown;
}

/** Bodies of every operation: recorded ones, and today's of a service with and one without a chain. */
async function collectCases(local: Awaited<ReturnType<typeof startLocalService>>): Promise<Case[]> {
  const unreadable = await startPublicServer();
  const recorded = await recordExamples(local.url, unreadable.base);
  const ofRoutes = await Promise.all(
    routes.map(async (route) => {
      const schema = nameBody(route);
      const query = typeof route.query === 'string' ? [] : route.query;
      const ranges: string[] = query.flatMap(({ name, schema: values }) =>
        name === 'range' ? (values as unknown as { options: string[] }).options : [],
      );
      const inRanges = ranges.map((range) => local.json(`${route.path}?range=${range}`));
      const bodies = [
        ...[recorded, examples].flatMap(({ bodies: { [schema]: found } }) => Object.values(found ?? {})),
        ...(await Promise.all(inRanges)),
      ];
      return bodies.map((body) => ({ operation: route.operationId, schema, body }));
    }),
  );
  return [
    ...ofRoutes.flat(),
    { operation: 'getHealth', schema: 'Health', body: { status: 'alive' } },
    { operation: 'getReadiness', schema: 'Readiness', body: { status: 'ready' } },
  ];
}

const prepare = shareInFile(async () => {
  const local = await startLocalService();
  const cases = await collectCases(local);
  const operations = new Set(cases.map(({ operation }) => operation));
  expect([...operations, 'streamEvents'].sort()).toEqual([...operationIds].sort());
  return { url: local.url, cases };
});

async function expectRun(command: string, parameters: readonly string[], cwd: string): Promise<string> {
  const child = startProcess(command, parameters, { cwd });
  const status = await child.exited;
  const output = child.output();
  expect([command, status, status === 0 ? '' : output.slice(-3_000)]).toEqual([command, 0, '']);
  return output;
}

/** Follows the guide in an empty folder, or skips the test if the language is not installed. */
async function followGuide(context: TestContext, language: string, tool: string, programFile: string) {
  const installed = await startProcess(tool, ['--version']).exited.catch(() => null);
  if (installed !== 0) context.skip(`${tool} is not installed`);
  const { url, cases } = await prepare();
  const folder = temporaryDirectory();
  const write = (id: string, name: string) => {
    const snippet = listSnippets().find((one) => one.id === id);
    writeFileSync(join(folder, name), (snippet?.source ?? '').replaceAll('http://127.0.0.1:8080', url));
  };
  write(`generate ${language} generated`, programFile);
  write(`generate sh ${language}`, 'commands.sh');
  expect(await expectRun('sh', ['-e', 'commands.sh'], folder)).toMatch(/^\d+ work units$/m);
  writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
  return { folder, cases };
}

const source = (file: string) => join(import.meta.dirname, file);
/** The last line of a program is the number of bodies that it has read. */
const readCount = (output: string) => Number(output.trim().split('\n').at(-1));

it('TypeScript: every body has the type that openapi-typescript makes of it', async (context) => {
  const { folder, cases } = await followGuide(context, 'ts', 'npm', 'generated.mts');
  const lines = cases.map(
    ({ schema, body }, index) =>
      `export const body${index}: components['schemas']['${schema}'] = ${JSON.stringify(body)};`,
  );
  const imported = "import type { components } from './service.ts';";
  writeFileSync(join(folder, 'cases.mts'), [imported, ...lines].join('\n'));
  const options = '--strict --noEmit --module nodenext --target es2023 --allowImportingTsExtensions';
  const tsc = ['--yes', '-p', 'typescript@5.9.3', 'tsc', ...options.split(' '), 'cases.mts'];
  await expectRun('npx', tsc, folder);
});

it('Python: clients of openapi-python-client read every body', async (context) => {
  const { folder, cases } = await followGuide(context, 'py', 'python3', 'generated.py');
  const parse = [source('parseBodies.py'), folder, 'cases.json'];
  expect(readCount(await expectRun(join(folder, 'tools/bin/python'), parse, folder))).toBe(cases.length);
});

it('Go: the client of ogen reads every body, and kin-openapi takes both documents', async (context) => {
  const { folder, cases } = await followGuide(context, 'go', 'go', 'generated.go');
  const schemas = [...new Set(cases.map(({ schema }) => schema))];
  const types = schemas.map((one) => `"${one}": func() any { return new(service.${one}) },\n`);
  mkdirSync(join(folder, 'parse'));
  writeFileSync(
    join(folder, 'parse/types.go'),
    `package main\n\nimport "example/service"\n\nvar types = map[string]func() any{\n${types.join('')}}\n`,
  );
  copyFileSync(source('parseBodies.go'), join(folder, 'parse/main.go'));
  writeFileSync(join(folder, 'openapi-3.0.json'), JSON.stringify(toOpenApi30(document)));
  await expectRun('go', ['get', 'github.com/getkin/kin-openapi/openapi3@v0.146.0'], folder);
  const parse = ['run', './parse', 'cases.json', 'openapi.json', 'openapi-3.0.json'];
  expect(readCount(await expectRun('go', parse, folder))).toBe(cases.length);
  const client = readFileSync(join(folder, 'service/oas_client_gen.go'), 'utf8');
  const methods = [...client.matchAll(/^func \(c \*Client\) ([A-Z]\w+)\(/gm)].map(([, name = '']) => name);
  expect(methods.map((name) => name.charAt(0).toLowerCase() + name.slice(1)).sort()).toEqual(
    [...operationIds].sort(),
  );
});

it('Java: the client of openapi-generator reads every body', async (context) => {
  const { folder, cases } = await followGuide(context, 'java', 'mvn', 'Generated.java');
  copyFileSync(source('ParseBodies.java'), join(folder, 'service/src/main/java/ParseBodies.java'));
  const run = ['compile', 'org.codehaus.mojo:exec-maven-plugin:3.6.2:java', '-Dexec.mainClass=ParseBodies'];
  const parse = ['-q', '-f', 'service', ...run, `-Dexec.args=${join(folder, 'cases.json')}`];
  const output = await expectRun('mvn', parse, folder);
  expect(readCount(output)).toBe(cases.length);
});
