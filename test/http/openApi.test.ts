import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { feedEvent } from '../../http/responses/feed/feedEvent.ts';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { toOpenApi30 } from '../../http/routes/documentation/openApi30.ts';
import { errorStatus } from '../../http/routes/errors.ts';
import { routes } from '../../http/routes/routes.ts';
import { examplePath } from '../support/http/examplePath.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { validateExamples } from '../support/http/validateExamples.ts';

/** Headers of HTTP itself, which the document need not name. */
const isOfProtocol =
  /^(?:access-control-.+|connection|content-.+|cross-origin-.+|date|keep-alive|transfer-encoding|vary|x-content-type-options)$/;

interface Answer {
  readonly description: string;
  readonly headers?: object;
  readonly content?: Readonly<Record<string, { readonly examples?: object }>>;
  readonly links?: Readonly<
    Record<string, { readonly operationId: string; readonly parameters: Readonly<Record<string, string>> }>
  >;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly { readonly in: string; readonly name: string; readonly required?: boolean }[];
  readonly responses: Readonly<Record<string, Answer | undefined>>;
}

const document = JSON.parse(JSON.stringify(createOpenApiDocument()));
const operations = Object.entries<{ readonly get: Operation }>(document.paths).map(
  ([path, { get }]) => [path, get] as const,
);

type Json = Readonly<Record<string, unknown>>;
type Schema = Json & {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly discriminator?: {
    readonly propertyName: string;
    readonly mapping: Readonly<Record<string, string>>;
  };
};

/** Every object of a document but those in examples, by its place. */
function* walk(value: unknown, place = ''): Iterable<readonly [place: string, found: Schema]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [place, value as Schema];
  for (const [key, member] of Object.entries(value))
    if (!/^examples?$/.test(key)) yield* walk(member, `${place}/${key}`);
}

const all = [...walk(document)];
const schemaPlace =
  /\/(?:schema|items|additionalProperties|components\/schemas\/\w+|properties\/[^/]+|(?:any|one|all)Of\/\d+)$/;
const schemas = all.filter(([place]) => schemaPlace.test(place));
const isComponent = (place: string) => /^\/components\/schemas\/\w+$/.test(place);
const findComponent = (ref: string): Schema => document.components.schemas[ref.split('/').at(-1) as string];

/** Places that break a rule; of schemas, unless others are given. */
const list = (breaks: (schema: Schema, place: string) => boolean, among = schemas) =>
  among.filter(([place, schema]) => breaks(schema, place)).map(([place]) => place);

describe('OpenAPI', () => {
  it('is served as generated, and names every route and no other', async () => {
    const server = await startPublicServer();
    const served = (await (await server.get('/openapi.json')).json()) as { paths: object; openapi: string };
    expect(served.openapi).toBe('3.1.0');
    const others = ['/healthz', '/readyz', '/v1/events/stream'];
    expect(Object.keys(served.paths).sort()).toEqual([...routes.map(({ path }) => path), ...others].sort());
    expect(document).toEqual(served);
  });

  it('refers to each of its components, and to no other', () => {
    const refs = new Set([...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref]) => ref));
    const components = Object.entries<object>(document.components).flatMap(([kind, members]) =>
      Object.keys(members).map((name) => `#/components/${kind}/${name}`),
    );
    expect([...refs].sort()).toEqual(components.sort());
  });

  it('names each operation once', () => {
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('lets every object have further members, but for those of events of the feed, and one', () => {
    const ofEvents = new Set(['#/components/schemas/FeedEvent']);
    for (const ref of ofEvents)
      for (const [, { $ref }] of walk(findComponent(ref))) if ($ref !== undefined) ofEvents.add($ref);
    const isOfEvents = (place: string) => ofEvents.has(`#${place.split('/').slice(0, 4).join('/')}`);
    const listObjects = (isClosed: boolean) =>
      list(
        ({ type, oneOf, additionalProperties }) =>
          type === 'object' && oneOf === undefined && (additionalProperties === false) === isClosed,
      );
    expect(listObjects(false).filter(isOfEvents)).toEqual([]);
    expect(listObjects(true).filter((place) => !isOfEvents(place))).toEqual([
      '/components/schemas/ModuleSnapshotData',
    ]);
    // Each has a payload of its own.
    expect(listObjects(true).length).toBeGreaterThan(2 * feedEvent.options.length);
  });

  it('has a self-contained JSON Schema of each answer', async () => {
    const server = await startPublicServer({ publicUrl: 'https://wheel.example' });
    const linked = operations.flatMap(
      ([, { responses }]) =>
        /\]\((\/schemas\/\w+\.json)\)$/.exec(responses[200]?.description ?? '')?.[1] ?? [],
    );
    expect(linked).toHaveLength(routes.length);
    for (const path of new Set([...linked, '/schemas/FeedEvent.json'])) {
      const response = await server.get(path);
      const { status, headers } = response;
      expect([path, status, headers.get('cache-control')]).toEqual([path, 200, 'public, max-age=300']);
      expect(headers.get('content-type')).toBe('application/schema+json');
      const schema = (await response.json()) as object;
      const { jsonSchemaDialect: $schema } = document;
      expect(schema).toMatchObject({ $schema, $id: `https://wheel.example${path}` });
      const refs = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref]) => ref);
      expect(refs.filter((ref) => !ref?.startsWith('#/$defs/'))).toEqual([]);
      const ajv = new Ajv2020({ strict: true, code: { optimize: false } });
      addFormats.default(ajv, ['date', 'date-time', 'uuid']);
      const validate = ajv.compile(schema);
      const route = routes.find((one) => path === `/schemas/${one.response.meta()?.id}.json`);
      if (route === undefined) continue;
      const body = (await (await server.get(examplePath(route))).json()) as object;
      expect([path, validate(body)]).toEqual([path, true]);
      expect([path, validate({ ...body, installationId: 'no ID' })]).toEqual([path, false]);
    }
  });

  it('names parameters and headers of each route, and no others', async () => {
    const server = await startPublicServer({ rateLimits: true });
    const listHeaders = (answer: Answer | undefined) =>
      Object.keys(answer?.headers ?? {})
        .map((name) => name.toLowerCase())
        .sort();
    const listSent = ({ headers }: Response) =>
      [...headers.keys()].filter((name) => !isOfProtocol.test(name)).sort();
    for (const route of routes) {
      const { parameters, responses } = document.paths[route.path].get as Operation;
      server.clock.advance(10_000);
      const answer = await server.get(examplePath(route));
      const again = await server.get(examplePath(route), { 'If-None-Match': '*' });
      expect([route.path, listHeaders(responses[200])]).toEqual([route.path, listSent(answer)]);
      const isKept = again.status === 304;
      expect([route.path, listHeaders(responses[304])]).toEqual([route.path, isKept ? listSent(again) : []]);
      const query = typeof route.query === 'string' ? [] : route.query;
      expect(parameters.map((one) => `${one.in} ${one.name} ${one.required ?? false}`).sort()).toEqual(
        [
          ...(route.pathParameter === null ? [] : [`path ${route.pathParameter.name} true`]),
          ...query.map(({ name, isRequired }) => `query ${name} ${isRequired ?? false}`),
          'header X-Request-Id false',
          ...(isKept ? ['header If-None-Match false'] : []),
        ].sort(),
      );
    }
  });

  it('names the codes of each status, with an example of each', () => {
    for (const [path, { responses }] of operations) {
      const named: string[] = [];
      for (const [status, answer] of Object.entries(responses)) {
        if (status < '400') continue;
        const codes = [...(answer?.description.matchAll(/`([a-z_]+)`:/g) ?? [])].map(([, code = '']) => code);
        expect([path, status, codes.length > 0]).toEqual([path, status, true]);
        for (const code of codes)
          expect(errorStatus[code as keyof typeof errorStatus].status.slice(0, 3)).toBe(status);
        expect(Object.keys(answer?.content?.['application/json']?.examples ?? {})).toEqual(codes);
        named.push(...codes);
      }
      // A route that reads rows may have to wait for them.
      const ofWaiting = named.filter((code) => code === 'database_busy' || code === 'request_timeout');
      const { kind } = routes.find((route) => route.path === path) ?? {};
      expect([path, ofWaiting]).toEqual([path, kind === 'read' ? ['database_busy', 'request_timeout'] : []]);
    }
  });

  it('names the public address of the service, if it is known', () => {
    expect(document.servers[0].url).toBe('/');
    const { servers } = createOpenApiDocument('https://wheel.example');
    expect(servers?.map(({ url }) => url)).toEqual(['https://wheel.example']);
  });

  it('links each page of a list to the next', () => {
    const linked = operations.flatMap(([path, { responses, operationId, parameters }]) => {
      const link = responses[200]?.links?.nextPage;
      if (link === undefined) return [];
      expect(link.operationId).toBe(operationId);
      expect(Object.keys(link.parameters).sort()).toEqual(
        parameters
          .filter((one) => one.in !== 'header')
          .map(({ name }) => name)
          .sort(),
      );
      expect(link.parameters.cursor).toBe('$response.body#/nextCursor');
      return [path];
    });
    const paged = routes.filter(
      ({ query }) => typeof query !== 'string' && query.some(({ name }) => name === 'cursor'),
    );
    expect(linked).toEqual(paged.map(({ path }) => path));
    expect(linked).toHaveLength(12);
  });

  it('says of every property, parameter and header what it is, and has no empty text', () => {
    const isDescribed = ({ description, schema, $ref }: Schema): boolean =>
      Boolean(description) ||
      (schema !== undefined && isDescribed(schema as Schema)) ||
      ($ref !== undefined && isDescribed(findComponent($ref)));
    const isNamed = ([place, found]: (typeof all)[number]) =>
      /\/(?:properties|headers)\/[^/]+$/.test(place) || (typeof found.name === 'string' && 'in' in found);
    const named = all.filter(isNamed);
    expect(named.length).toBeGreaterThan(500);
    expect(list((one) => !isDescribed(one), named)).toEqual([]);
    expect(list(({ description, summary }) => description === '' || summary === '', all)).toEqual([]);
  });
});

describe('the OpenAPI document, for generators of clients', () => {
  it('has schemas', () => {
    expect(schemas.length).toBeGreaterThan(1_500);
  });

  it('makes a component of every object, union of objects, and enumeration', () => {
    const isUnnamed = (schema: Schema, place: string) =>
      (schema.type === 'object' || schema.oneOf !== undefined || (schema.enum ?? []).length > 1) &&
      !isComponent(place) &&
      !place.includes('/headers/');
    expect(list(isUnnamed)).toEqual([]);
  });

  it('names components without numbers that only tell them apart', () => {
    const numbered = Object.keys(document.components.schemas).filter((name) => /\d$/.test(name));
    expect(numbered.sort()).toEqual(['Bytes32', 'MeasurementUint64']);
  });

  it('has a discriminator with all constants for every union', () => {
    const unions = schemas.filter(([, { oneOf }]) => oneOf !== undefined);
    expect(unions.length).toBeGreaterThan(15);
    for (const [place, { oneOf = [], discriminator }] of unions) {
      const { propertyName = '', mapping = {} } = discriminator ?? {};
      const expected = oneOf.map((variant) => [
        findComponent(variant.$ref ?? '').properties?.[propertyName]?.const,
        variant.$ref,
      ]);
      expect([place, Object.entries(mapping)]).toEqual([place, expected]);
    }
  });

  it('has no alternatives but null', () => {
    const isOther = ({ anyOf = [] }: Schema) =>
      anyOf.length > 0 && !(anyOf.length === 2 && anyOf[1]?.type === 'null');
    expect(list(isOther)).toEqual([]);
    expect(list(({ allOf }) => allOf !== undefined)).toEqual([]);
  });

  it('has next to a reference only what explains it', () => {
    const explains = ['$ref', 'description', 'default'];
    const isMore = (schema: Schema) =>
      schema.$ref !== undefined && Object.keys(schema).some((key) => !explains.includes(key));
    expect(list(isMore)).toEqual([]);
  });

  it('has integers, and no other numbers', () => {
    expect(list(({ type }) => type === 'number')).toEqual([]);
    const values = ({ enum: values = [], const: value }: Schema) => [...values, value];
    const isUntyped = (schema: Schema) => values(schema).some(Number.isInteger) && schema.type !== 'integer';
    expect(list(isUntyped)).toEqual([]);
  });

  it('has only patterns of whole texts, which engines without backtracking accept', () => {
    const isBacktracking = ({ pattern = '' }: Schema) => /\(\?[=!<]|\\[1-9]|[*+?}]\+/.test(pattern);
    expect(list(isBacktracking)).toEqual([]);
    // A path is only described by its beginning.
    expect(list(({ pattern = '^$' }) => !/^\^.*(?:\$|\\\/)$/.test(pattern))).toEqual([]);
    expect(list(({ pattern }) => pattern !== undefined).length).toBeGreaterThan(20);
  });
});

const document30 = toOpenApi30(createOpenApiDocument());

it('the document in OpenAPI 3.0 is served, and has nothing that only 3.1 has', async () => {
  const server = await startPublicServer();
  expect(await (await server.get('/openapi-3.0.json')).json()).toEqual(
    JSON.parse(JSON.stringify(document30)),
  );
  const found = [...walk(document30)].filter(([place]) => !/\/(?:properties|schemas)$/.test(place));
  const isNewer = ({ const: constant, type, anyOf, examples, $ref, ...others }: Schema) =>
    constant !== undefined ||
    Array.isArray(type) ||
    type === 'null' ||
    anyOf !== undefined ||
    Array.isArray(examples) ||
    ($ref !== undefined && Object.values(others).some((other) => other !== undefined));
  expect(list(isNewer, found)).toEqual([]);
  expect(found.length).toBeGreaterThan(2_000);
  expect([document30.openapi, 'jsonSchemaDialect' in document30]).toEqual(['3.0.3', false]);
});

/** A schema of 3.0 in words of JSON Schema, by the meaning of `nullable`. */
function toJsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toJsonSchema);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...others } = value as Json;
  const converted = Object.fromEntries(
    Object.entries(others).map(([key, member]) => [key, toJsonSchema(member)]),
  );
  return nullable === true ? { anyOf: [converted, { type: 'null' }] } : converted;
}

it('the examples fit the document in OpenAPI 3.0 (npm run examples)', () => {
  expect(validateExamples(toJsonSchema(document30) as object)).toEqual([]);
});
