import { describe, expect, it } from 'vitest';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonObject = { readonly [key: string]: Json };

/** The published document. */
const document = JSON.parse(JSON.stringify(createOpenApiDocument('1.0.0'))) as JsonObject;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every property, parameter and header, with its place in the document. */
function* listNamed(value: Json, place: string): Iterable<readonly [string, JsonObject]> {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield* listNamed(item, `${place}/${index}`);
    return;
  }
  if (!isObject(value)) return;
  for (const members of ['properties', 'headers']) {
    const named = value[members];
    if (isObject(named))
      for (const [name, one] of Object.entries(named))
        if (isObject(one)) yield [`${place}/${members}/${name}`, one];
  }
  if (typeof value.name === 'string' && 'in' in value) yield [`${place}/${value.name}`, value];
  for (const [key, member] of Object.entries(value)) yield* listNamed(member, `${place}/${key}`);
}

function isDescribed(named: JsonObject): boolean {
  const { description, schema } = named;
  return (typeof description === 'string' && description !== '') || (isObject(schema) && isDescribed(schema));
}

describe('the OpenAPI description', () => {
  it('says of every property, parameter and header what it is', () => {
    const named = [...listNamed(document, '')];
    expect(named.length).toBeGreaterThan(500);
    expect(named.filter(([, one]) => !isDescribed(one)).map(([place]) => place)).toEqual([]);
  });

  it('finds one without a description', () => {
    const bare = { components: { schemas: { A: { properties: { b: { type: 'string' } } } } } };
    const [[place, one] = ['', {}]] = listNamed(bare, '');
    expect([place, isDescribed(one)]).toEqual(['/components/schemas/A/properties/b', false]);
  });
});
