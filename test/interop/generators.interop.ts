import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, type TestContext } from 'vitest';
import { examples } from '../../http/routes/documentation/examples.ts';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { toOpenApi30 } from '../../http/routes/documentation/openApi30.ts';
import { routes } from '../../http/routes/routes.ts';
import { startLocalService } from '../support/explorer/localService.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { nameBody, recordExamples } from '../support/http/recordExamples.ts';
import { startProcess } from '../support/processes/childProcess.ts';
import { shareInFile } from '../support/processes/lifetime.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'miner');
const python = join(cache, 'generators');
const document = JSON.parse(JSON.stringify(createOpenApiDocument()));
const operationIds = Object.values<{ get: { operationId: string } }>(document.paths).map(
  ({ get }) => get.operationId,
);

interface Case {
  readonly operation: string;
  readonly schema: string;
  readonly body: unknown;
}

let dir = '';
let openApi = '';
let openApi30 = '';
let casesFile = '';
let cases: readonly Case[] = [];
let schemas: readonly string[] = [];

/** Bodies of every operation: recorded ones, and today's of a service with and one without a chain. */
async function collectCases(): Promise<Case[]> {
  const [local, unreadable] = await Promise.all([startLocalService(), startPublicServer()]);
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
  dir = temporaryDirectory();
  openApi = join(dir, 'openapi.json');
  openApi30 = join(dir, 'openapi-3.0.json');
  casesFile = join(dir, 'cases.json');
  cases = await collectCases();
  schemas = [...new Set(cases.map(({ schema }) => schema))];
  const operations = new Set(cases.map(({ operation }) => operation));
  expect([...operations, 'streamEvents'].sort()).toEqual([...operationIds].sort());
  writeFileSync(casesFile, JSON.stringify(cases));
  writeFileSync(openApi, JSON.stringify(document));
  writeFileSync(openApi30, JSON.stringify(toOpenApi30(document)));
});

beforeEach(() => prepare());

async function run(command: string, parameters: readonly string[], cwd = dir, env: NodeJS.ProcessEnv = {}) {
  const child = startProcess(command, parameters, { cwd, env: { ...process.env, ...env } });
  return { status: await child.exited, output: child.output() };
}

async function expectRun(...given: Parameters<typeof run>): Promise<string> {
  const { status, output } = await run(...given);
  expect([given[0], status, status === 0 ? '' : output.slice(-3_000)]).toEqual([given[0], 0, '']);
  return output;
}

/** The last line of a program is the number of bodies that it has read. */
async function expectParsed(...given: Parameters<typeof run>) {
  expect((await expectRun(...given)).trim().split('\n').at(-1)).toBe(String(cases.length));
}

/** Installs a tool, or skips the test if its registry is not reached, or its language is missing. */
async function install(context: TestContext, name: string, ...given: Parameters<typeof run>) {
  const { status, output } = await run(...given).catch((error: Error) => ({
    status: 1,
    output: error.message,
  }));
  if (status !== 0)
    context.skip(`${name} is skipped, since it cannot be installed: ${output.trim().slice(-200)}`);
}

async function installPython(context: TestContext) {
  const packages = [
    'openapi-python-client==0.29.1',
    'datamodel-code-generator==0.89.0',
    'openapi-generator-cli==7.26.0',
    'httpx==0.28.1',
  ];
  await install(context, 'Python', 'python3', ['-m', 'venv', python]);
  await install(context, 'Python', join(python, 'bin/pip'), ['install', '--quiet', ...packages]);
}

const inPython = (program: string) => join(python, 'bin', program);
const source = (file: string) => join(import.meta.dirname, file);

it('Python: clients of openapi-python-client import, and read every body', async (context) => {
  await installPython(context);
  const options = [
    '--path',
    openApi,
    '--output-path',
    join(dir, 'generated'),
    '--meta',
    'none',
    '--overwrite',
  ];
  await expectRun(inPython('openapi-python-client'), ['generate', ...options]);
  await expectParsed(inPython('python'), [source('parseBodies.py'), dir, casesFile]);
});

it('Python: the package retries, reads all pages, and follows the stream without a gap', async (context) => {
  const local = await startLocalService();
  const folder = join(import.meta.dirname, '../../dist/python');
  const build = join(import.meta.dirname, '../../deploy/build/pythonClient.mjs');
  await install(context, 'Python', process.execPath, [build]);
  await install(
    context,
    'Python',
    join(folder, 'tools/bin/pip'),
    ['install', '--quiet', 'pytest==8.4.2', '.'],
    folder,
  );
  await expectRun(join(folder, 'tools/bin/pytest'), ['-q', 'test'], folder, { SERVICE_URL: local.url });
});

it('Python: classes of datamodel-code-generator have the names of the document, and no numbers', async (context) => {
  await installPython(context);
  const options = ['--input', openApi, '--input-file-type', 'openapi', '--output', 'models.py'];
  await expectRun(inPython('datamodel-codegen'), [
    ...options,
    '--output-model-type',
    'pydantic_v2.BaseModel',
  ]);
  const classes = [...readFileSync(join(dir, 'models.py'), 'utf8').matchAll(/^class (\w+)/gm)];
  const known = Object.keys(document.components.schemas);
  expect(classes.map(([, name]) => name).filter((name) => !known.includes(name as string))).toEqual([]);
  expect(classes.length).toBeGreaterThan(150);
});

it('Go: clients of ogen and oapi-codegen compile and read every body, and kin-openapi takes both documents', async (context) => {
  const tools = join(cache, 'go-generators');
  const folder = join(dir, 'go');
  for (const name of ['ogen', 'oapi']) mkdirSync(join(folder, name), { recursive: true });
  const go = (...parameters: string[]) => ['go', parameters, folder, { GOBIN: tools }] as const;
  await install(context, 'Go', ...go('install', 'github.com/ogen-go/ogen/cmd/ogen@v1.24.0'));
  const oapi = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
  await install(context, 'Go', ...go('install', oapi));
  await expectRun(join(tools, 'ogen'), ['--target', join(folder, 'ogen'), '--package', 'ogen', openApi]);
  const types = ['-generate', 'types,client', '-package', 'oapi', '-o', join(folder, 'oapi/api.go'), openApi];
  await expectRun(join(tools, 'oapi-codegen'), types);
  const listTypes = (name: string) =>
    `var ${name}Types = map[string]func() any{\n${schemas.map((one) => `"${one}": func() any { return new(${name}.${one}) },\n`).join('')}}\n`;
  const imports = 'package main\n\nimport (\n"example/oapi"\n"example/ogen"\n)\n';
  writeFileSync(join(folder, 'types.go'), [imports, listTypes('ogen'), listTypes('oapi')].join('\n'));
  writeFileSync(join(folder, 'go.mod'), 'module example\n\ngo 1.24\n');
  copyFileSync(source('parseBodies.go'), join(folder, 'main.go'));
  await install(context, 'Go', ...go('get', 'github.com/getkin/kin-openapi@v0.146.0'));
  await install(context, 'Go', ...go('mod', 'tidy'));
  await expectParsed('go', ['run', '.', casesFile, openApi, openApi30], folder);
  const api = readFileSync(join(folder, 'oapi/api.go'), 'utf8');
  expect(api).not.toMatch(/\bfloat(?:32|64)\b/);
  const client = readFileSync(join(folder, 'ogen/oas_client_gen.go'), 'utf8');
  const methods = [...client.matchAll(/^func \(c \*Client\) ([A-Z]\w+)\(/gm)].map(([, name = '']) => name);
  expect(methods.map((name) => name.charAt(0).toLowerCase() + name.slice(1)).sort()).toEqual(
    [...operationIds].sort(),
  );
});

it('Java: the client of openapi-generator compiles, and reads every body', async (context) => {
  await installPython(context);
  const folder = join(dir, 'java');
  const options = ['-i', openApi, '-g', 'java', '--library', 'native', '-o', folder];
  await expectRun(inPython('openapi-generator-cli'), ['generate', ...options]);
  const classPath = join(dir, 'classPath');
  const list = ['-q', 'dependency:build-classpath', `-Dmdep.outputFile=${classPath}`];
  await install(context, 'Java', 'mvn', list, folder);
  const libraries = readFileSync(classPath, 'utf8').trim();
  const sources = `${(await expectRun('find', [join(folder, 'src/main/java'), '-name', '*.java'])).trim()}\n${source('ParseBodies.java')}\n`;
  writeFileSync(join(dir, 'sources'), sources);
  const classes = join(dir, 'classes');
  await expectRun('javac', ['-nowarn', '-cp', libraries, '-d', classes, `@${join(dir, 'sources')}`]);
  await expectParsed('java', ['-cp', `${classes}:${libraries}`, 'ParseBodies', casesFile]);
});

const rustTarget = { CARGO_TARGET_DIR: join(cache, 'rust-generators') };

function writeRustTypes(folder: string, models: string) {
  const arms = schemas.map(
    (one) => `"${one}" => serde_json::from_value::<${models}::${one}>(body).map(|_| ()),`,
  );
  mkdirSync(join(folder, 'src/bin'), { recursive: true });
  const types = `fn parse(name: &str, body: Value) -> serde_json::Result<()> {\nmatch name {\n${arms.join('\n')}\n_ => panic!("{name}"),\n}\n}\n`;
  writeFileSync(join(folder, 'src/bin/types.rs'), types);
  copyFileSync(source('parse_bodies.rs'), join(folder, 'src/bin/parse_bodies.rs'));
}

it('Rust: the client of openapi-generator compiles, and reads every body', async (context) => {
  await installPython(context);
  const folder = join(dir, 'rust');
  // It takes the discriminator out of what a variant reads, though the variant has it as a member.
  const withoutDiscriminators = JSON.stringify(document, (key, value) =>
    key === 'discriminator' ? undefined : value,
  );
  const untagged = join(dir, 'untagged.json');
  writeFileSync(untagged, withoutDiscriminators);
  await expectRun(inPython('openapi-generator-cli'), [
    'generate',
    '-i',
    untagged,
    '-g',
    'rust',
    '-o',
    folder,
  ]);
  writeRustTypes(folder, 'openapi::models');
  await install(context, 'Rust', 'cargo', ['fetch', '--quiet'], folder, rustTarget);
  const build = ['--quiet', '--no-default-features', '--bin', 'parse_bodies'];
  await expectParsed('cargo', ['run', ...build, '--', casesFile], folder, rustTarget);
});

it('Rust: the client that progenitor makes of OpenAPI 3.0 compiles, and reads every body', async (context) => {
  const writePackage = (name: string, dependencies: readonly string[]) => {
    const folder = join(dir, name);
    mkdirSync(join(folder, 'src/bin'), { recursive: true });
    const about = `[package]\nname = "${name}"\nversion = "1.0.0"\nedition = "2021"\n`;
    writeFileSync(join(folder, 'Cargo.toml'), `${about}[dependencies]\n${dependencies.join('\n')}\n`);
    return folder;
  };
  const maker = writePackage('maker', ['openapiv3 = "2"', 'progenitor-impl = "=0.15.1"', 'serde_json = "1"']);
  copyFileSync(source('progenitor.rs'), join(maker, 'src/bin/maker.rs'));
  const folder = writePackage('progenitor-made', [
    ...[
      'bytes = "1"',
      'futures = "0.3"',
      'progenitor-client = "=0.15.1"',
      'regress = "0.12"',
      'serde_json = "1"',
    ],
    'chrono = { version = "0.4", features = ["serde"] }',
    'reqwest = { version = "0.13", default-features = false, features = ["json", "query", "stream"] }',
    'serde = { version = "1", features = ["derive"] }',
    'uuid = { version = "1", features = ["serde"] }',
  ]);
  const library = join(folder, 'src/lib.rs');
  writeFileSync(library, '');
  for (const one of [maker, folder]) await install(context, 'Rust', 'cargo', ['fetch', '--quiet'], one);
  const make = ['run', '--quiet', '--bin', 'maker', '--', openApi30];
  const client = await expectRun('cargo', make, maker, rustTarget);
  const methods = new Set([...client.matchAll(/pub async fn (\w+)/g)].map(([, name]) => name));
  expect(methods.size).toBe(operationIds.length);
  writeFileSync(library, client);
  writeRustTypes(folder, 'progenitor_made::types');
  const build = ['run', '--quiet', '--bin', 'parse_bodies', '--', casesFile];
  await expectParsed('cargo', build, folder, rustTarget);
});
