import { describe, expect, it } from 'vitest';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';

type Schema = Readonly<Record<string, unknown>> & {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly discriminator?: {
    readonly propertyName: string;
    readonly mapping: Readonly<Record<string, string>>;
  };
};

const document = JSON.parse(JSON.stringify(createOpenApiDocument()));
const components: Readonly<Record<string, Schema>> = document.components.schemas;
const resolve = ({ $ref, ...schema }: Schema): Schema =>
  $ref === undefined ? schema : (components[$ref.replace('#/components/schemas/', '')] as Schema);

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A schema with the schemas in it, by place. */
function* listWithin(schema: Schema, place: string): Iterable<readonly [place: string, schema: Schema]> {
  yield [place, schema];
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    yield* listWithin(member, `${place}/${name}`);
  for (const key of ['items', 'additionalProperties'])
    if (isObject(schema[key])) yield* listWithin(schema[key], `${place}/${key}`);
  for (const key of ['anyOf', 'oneOf', 'allOf'])
    for (const [index, one] of ((schema[key] ?? []) as Schema[]).entries())
      yield* listWithin(one, `${place}/${key}/${index}`);
}

/** Schemas of parameters, headers and bodies. */
function* listUsed(value: unknown, place: string): Iterable<readonly [place: string, schema: Schema]> {
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) yield* listUsed(item, `${place}/${index}`);
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value))
    if (key === 'schema') yield* listWithin(member as Schema, place);
    else if (!key.startsWith('example')) yield* listUsed(member, `${place}/${key}`);
}

const named = Object.entries(components).flatMap(([name, schema]) => [...listWithin(schema, name)]);
const all = [...named, ...listUsed(document.paths, '')];

/** Places whose schema breaks a rule. */
const list = (breaks: (schema: Schema, place: string) => boolean) =>
  all.filter(([place, schema]) => breaks(schema, place)).map(([place]) => place);

describe('the OpenAPI document, for generators of clients', () => {
  it('has schemas', () => {
    expect(all.length).toBeGreaterThan(1_500);
  });

  it('makes a component of every object, union of objects, and enumeration', () => {
    const isUnnamed = (schema: Schema, place: string) =>
      (schema.type === 'object' || schema.oneOf !== undefined || (schema.enum ?? []).length > 1) &&
      !(place in components) &&
      !place.includes('/headers/');
    expect(list(isUnnamed)).toEqual([]);
  });

  it('names components without numbers that only tell them apart', () => {
    const numbered = Object.keys(components).filter((name) => /\d$/.test(name));
    expect(numbered.sort()).toEqual(['Bytes32', 'MeasurementUint64']);
  });

  it('has a discriminator with all constants for every union', () => {
    const unions = all.filter(([, { oneOf }]) => oneOf !== undefined);
    expect(unions.length).toBeGreaterThan(15);
    for (const [place, { oneOf = [], discriminator }] of unions) {
      const { propertyName = '', mapping = {} } = discriminator ?? {};
      const expected = oneOf.map((variant) => [
        resolve(variant).properties?.[propertyName]?.const,
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
    expect(all.filter(([, { pattern }]) => pattern !== undefined).length).toBeGreaterThan(20);
  });
});
