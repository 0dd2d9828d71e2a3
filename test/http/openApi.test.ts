import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { feedEvent } from '../../http/responses/feed/feedEvent.ts';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { errorStatus } from '../../http/routes/errors.ts';
import { routes } from '../../http/routes/routes.ts';
import { examplePath } from '../support/http/examplePath.ts';
import { startPublicServer } from '../support/http/publicServer.ts';

interface Operations {
  readonly get: { readonly responses: { readonly 200: { readonly description: string } } };
}

describe('OpenAPI', () => {
  it('is served as it is generated, and names every route of the table, the process’s own and the stream, and no other', async () => {
    const server = await startPublicServer();
    const served = (await (await server.get('/openapi.json')).json()) as { paths: object; openapi: string };
    expect(served.openapi).toBe('3.1.0');
    const others = ['/healthz', '/readyz', '/v1/events/stream'];
    expect(Object.keys(served.paths).sort()).toEqual([...routes.map(({ path }) => path), ...others].sort());
    expect(JSON.parse(JSON.stringify(createOpenApiDocument('1.0.0')))).toEqual(served);
  });

  it('lets every object have further members, except events, their payloads and the data of modules', () => {
    const closed: string[] = [];
    const walk = (value: unknown, place: string) => {
      if (typeof value !== 'object' || value === null) return;
      if ('additionalProperties' in value && value.additionalProperties === false) closed.push(place);
      for (const [key, member] of Object.entries(value)) walk(member, `${place}/${key}`);
    };
    walk(createOpenApiDocument('1.0.0'), '');
    const events = feedEvent.options.map((_, index) => `/components/schemas/FeedEvent/oneOf/${index}`);
    expect(closed.sort()).toEqual(
      [
        ...events,
        ...events.map((event) => `${event}/properties/payload`),
        '/components/schemas/ModuleSnapshot/properties/data',
      ].sort(),
    );
  });

  it('has a JSON Schema of each answer that needs nothing else, which a strict validator takes with three formats', async () => {
    const server = await startPublicServer({ publicUrl: 'https://wheel.example' });
    const document = createOpenApiDocument('1.0.0');
    const answers = Object.values(JSON.parse(JSON.stringify(document.paths)) as Record<string, Operations>);
    const linked = answers.flatMap(
      ({ get }) => /\]\((\/schemas\/\w+\.json)\)$/.exec(get.responses[200].description)?.[1] ?? [],
    );
    expect(linked).toHaveLength(routes.length);
    for (const path of new Set([...linked, '/schemas/FeedEvent.json'])) {
      const response = await server.get(path);
      expect([path, response.status, response.headers.get('cache-control')]).toEqual([
        path,
        200,
        'public, max-age=300',
      ]);
      expect(response.headers.get('content-type')).toBe('application/schema+json');
      const schema = (await response.json()) as { $schema: string; $id: string };
      expect([schema.$schema, schema.$id]).toEqual([
        document.jsonSchemaDialect,
        `https://wheel.example${path}`,
      ]);
      const refs = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]*)"/g)].map(([, ref]) => ref);
      expect(refs.filter((ref) => !ref?.startsWith('#/$defs/'))).toEqual([]);
      const ajv = new Ajv2020({ strict: true });
      addFormats.default(ajv, ['date', 'date-time', 'uuid']);
      const validate = ajv.compile(schema);
      const route = routes.find((one) => path === `/schemas/${one.response.meta()?.id}.json`);
      if (route === undefined) continue;
      const body = (await (await server.get(examplePath(route))).json()) as object;
      expect([path, validate(body)]).toEqual([path, true]);
      expect([path, validate({ ...body, installationId: 'no ID' })]).toEqual([path, false]);
    }
  });

  it('names for each status only codes that have it', () => {
    const { paths } = JSON.parse(JSON.stringify(createOpenApiDocument('1.0.0'))) as {
      paths: Record<string, { get: { responses: Record<string, { description: string }> } }>;
    };
    for (const { get } of Object.values(paths)) {
      for (const [status, { description }] of Object.entries(get.responses)) {
        for (const [, code = ''] of description.matchAll(/`([a-z_]+)`:/g)) {
          expect(errorStatus[code as keyof typeof errorStatus].status.slice(0, 3)).toBe(status);
        }
      }
    }
  });
});
