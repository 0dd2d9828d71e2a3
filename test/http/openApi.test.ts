import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { feedEvent } from '../../http/responses/feed/feedEvent.ts';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { errorStatus } from '../../http/routes/errors.ts';
import { routes } from '../../http/routes/routes.ts';
import { examplePath } from '../support/http/examplePath.ts';
import { startPublicServer } from '../support/http/publicServer.ts';

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

  it('lets every object have further members, with two exceptions', () => {
    const { schemas } = document.components;
    /** Places of objects that are closed or open. `follow` finds the schema of a reference. */
    const listObjects = (root: unknown, isClosed: boolean, follow: (name: string) => unknown) => {
      const walk = (value: unknown, place: string): string[] => {
        if (typeof value !== 'object' || value === null) return [];
        const { type, oneOf, $ref, additionalProperties } = value as Readonly<Record<string, unknown>>;
        const isFound =
          type === 'object' && oneOf === undefined && (additionalProperties === false) === isClosed;
        return [
          ...(isFound ? [place] : []),
          ...(typeof $ref === 'string' ? walk(follow($ref.split('/').at(-1) as string), place) : []),
          ...Object.entries(value).flatMap(([key, member]) => walk(member, `${place}/${key}`)),
        ];
      };
      return walk(root, '');
    };
    const ofEvents = /^FeedEvent$|(?:Event|Payload|EventSource|EventAsset)$/;
    const others = Object.fromEntries(
      Object.entries(schemas).filter(([name]) => !ofEvents.test(name) || /^(?:Core|Owner)Event/.test(name)),
    );
    const { FeedEvent } = schemas;
    expect(listObjects(FeedEvent, false, (name) => schemas[name])).toEqual([]);
    const variants = feedEvent.options.map((_, index) => `/oneOf/${index}`);
    const parts = ['', '/properties/source', '/properties/payload'];
    expect(listObjects(FeedEvent, true, (name) => schemas[name])).toEqual(
      expect.arrayContaining(variants.flatMap((one) => parts.map((part) => one + part))),
    );
    expect(listObjects({ ...document, components: others }, true, () => null)).toEqual([
      '/components/ModuleSnapshotData',
    ]);
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
    for (const [path, { responses }] of operations)
      for (const [status, answer] of Object.entries(responses)) {
        if (status < '400') continue;
        const codes = [...(answer?.description.matchAll(/`([a-z_]+)`:/g) ?? [])].map(([, code = '']) => code);
        expect([path, status, codes.length > 0]).toEqual([path, status, true]);
        for (const code of codes)
          expect(errorStatus[code as keyof typeof errorStatus].status.slice(0, 3)).toBe(status);
        expect(Object.keys(answer?.content?.['application/json']?.examples ?? {})).toEqual(codes);
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
});
