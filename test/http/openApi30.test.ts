import { expect, it } from 'vitest';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { toOpenApi30 } from '../../http/routes/documentation/openApi30.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { validateExamples } from '../support/http/validateExamples.ts';

type Json = Readonly<Record<string, unknown>>;

const document = toOpenApi30(createOpenApiDocument());

/** Calls back for each object that is not an example. */
function visit(value: unknown, note: (found: Json, place: string) => void, place = ''): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) note(value as Json, place);
  for (const [key, member] of Object.entries(value))
    if (!/\/(?:example|examples)$/.test(place)) visit(member, note, `${place}/${key}`);
}

it('the document in OpenAPI 3.0 is served, and has nothing that only 3.1 has', async () => {
  const server = await startPublicServer();
  expect(await (await server.get('/openapi-3.0.json')).json()).toEqual(JSON.parse(JSON.stringify(document)));
  const faults: string[] = [];
  let found = 0;
  visit(document, ({ $ref, const: constant, type, anyOf, examples, nullable, ...others }, place) => {
    if (place.endsWith('/properties') || place.endsWith('/schemas')) return;
    found++;
    const isNewer =
      constant !== undefined ||
      Array.isArray(type) ||
      type === 'null' ||
      anyOf !== undefined ||
      Array.isArray(examples);
    if ('minItems' in others && others.minItems === others.maxItems) faults.push(place);
    const isIgnored =
      $ref !== undefined &&
      Object.keys({ ...others, ...(nullable !== undefined && { nullable }) }).length > 0;
    if (isNewer || isIgnored) faults.push(place);
  });
  expect(faults).toEqual([]);
  expect(found).toBeGreaterThan(2_000);
  expect([document.openapi, 'jsonSchemaDialect' in document]).toEqual(['3.0.3', false]);
  const { parameters } = JSON.parse(JSON.stringify(document)).paths['/v1/events/stream'].get;
  expect(parameters.map(({ name }: { name: string }) => name)).toEqual([
    ...['category', 'unnamed', 'lastEventId', 'X-Request-Id'],
  ]);
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

it('the examples fit the document in OpenAPI 3.0', () => {
  expect(validateExamples(toJsonSchema(document) as object)).toEqual([]);
});
