import { compile, type JSONSchema } from 'json-schema-to-typescript';
import type { Decimals } from '../../http/client/decimals.ts';
import { feedEvent } from '../../http/responses/feed/feedEvent.ts';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import type { Route } from '../../http/routes/route.ts';
import { routes } from '../../http/routes/routes.ts';
import type { Contract, Schema } from './contract.ts';

const document = JSON.parse(JSON.stringify(createOpenApiDocument())) as Contract;
const { schemas } = document.components;
const refPrefix = '#/components/schemas/';

function resolve(schema: Schema): Schema {
  return schema.$ref === undefined ? schema : (schemas[schema.$ref.slice(refPrefix.length)] as Schema);
}

/** Whether the schema is a decimal, by its description: unbounded sums have no format. */
function isDecimal(schema: Schema): boolean {
  return schema.format?.endsWith('-decimal') === true || schema.$ref === `${refPrefix}UnboundedDecimal`;
}

function findDecimals(named: Schema): Decimals | null {
  const schema = resolve(named);
  if (isDecimal(named) || isDecimal(schema)) return 1;
  if (schema.items !== undefined) {
    const ofItem = findDecimals(schema.items);
    return ofItem === null ? null : [ofItem];
  }
  const found = Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    const ofMember = findDecimals(member);
    return ofMember === null ? [] : [[name, ofMember] as const];
  });
  const variants = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map(findDecimals);
  return variants.reduce(merge, found.length === 0 ? null : Object.fromEntries(found));
}

/** Merges variants. If one has a decimal, no other may have other text in its place. */
function merge(one: Decimals | null, other: Decimals | null): Decimals | null {
  if (one === null || other === null) return one ?? other;
  if (one === 1 || other === 1) {
    if (one !== other) throw new Error('a member is a decimal in one variant and holds some in another');
    return 1;
  }
  if (isList(one) || isList(other)) {
    if (!isList(one) || !isList(other)) throw new Error('a member is a list in one variant only');
    return [merge(one[0], other[0]) as Decimals];
  }
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return Object.fromEntries(
    names.map((name) => [name, merge(one[name] ?? null, other[name] ?? null) as Decimals]),
  );
}

function isList(decimals: Decimals): decimals is readonly [Decimals] {
  return Array.isArray(decimals);
}

/** The schema in the form that the generator of types reads: scalars inline, decimals as bigints, objects by name. */
function toSource(schema: Schema): JSONSchema {
  const resolved = resolve(schema);
  const description = schema.description ?? resolved.description;
  if (isDecimal(schema) || isDecimal(resolved))
    return { tsType: 'bigint', ...(description && { description }) };
  const isScalar = ['string', 'integer', 'number', 'boolean'].includes(String(resolved.type));
  if (schema.$ref !== undefined && !isScalar)
    return { $ref: schema.$ref.replace(refPrefix, '#/definitions/') };
  return {
    ...Object.fromEntries(Object.entries(resolved).map(([key, value]) => [key, toSourceValue(key, value)])),
    ...(description && { description }),
  };
}

function toSourceValue(key: string, value: unknown): unknown {
  if (key === 'properties')
    return Object.fromEntries(
      Object.entries(value as Record<string, Schema>).map(([name, member]) => [name, toSource(member)]),
    );
  if (key === 'items') return toSource(value as Schema);
  if (key === 'anyOf' || key === 'oneOf') return (value as Schema[]).map(toSource);
  return value;
}

const isObjectOrUnion = (schema: Schema) =>
  schema.properties !== undefined || schema.anyOf !== undefined || schema.oneOf !== undefined;

function nameBody(route: Route): string {
  const named = route.response.meta()?.id;
  if (named === undefined) throw new Error(`the response of ${route.path} has no name`);
  return named;
}

function writeParameters(path: string, place: 'path' | 'query'): string {
  const parameters = (document.paths[path]?.get.parameters ?? []).filter((one) => one.in === place);
  if (parameters.length === 0) return 'Record<never, never>';
  const members = parameters.map(({ name, required, description, schema }) => {
    const values = resolve(schema).enum;
    const type =
      values !== undefined
        ? values.map((value) => JSON.stringify(value).replaceAll('"', "'")).join(' | ')
        : resolve(schema).type === 'integer' || name === 'limit'
          ? 'number'
          : 'string';
    const comment = description === undefined ? '' : `/** ${description} */ `;
    return `${comment}readonly ${name}${required === true ? '' : '?'}: ${type}`;
  });
  return `{ ${members.join('; ')} }`;
}

export async function writeClientTypes(): Promise<string> {
  const definitions = Object.fromEntries(
    Object.entries(schemas)
      .filter(([, schema]) => isObjectOrUnion(schema))
      .map(([name, schema]) => [name, toSource(schema)]),
  );
  const types = await compile({ definitions } as JSONSchema, 'Unused', {
    bannerComment: '',
    unreachableDefinitions: true,
    additionalProperties: false,
    format: false,
    strictIndexSignatures: true,
    ignoreMinAndMaxItems: true,
  });
  const entries = routes.map(
    (route) =>
      `  /** ${route.summary}. */\n  readonly '${route.path}': { readonly path: ${writeParameters(route.path, 'path')}; readonly query: ${writeParameters(route.path, 'query')}; readonly body: ${nameBody(route)} };`,
  );
  const decimals = Object.fromEntries(
    routes.flatMap((route) => {
      const found = findDecimals({ $ref: refPrefix + nameBody(route) });
      return found === null ? [] : [[route.path, found]];
    }),
  );
  const ofEvent = findDecimals({ $ref: refPrefix + (feedEvent.meta()?.id ?? '') });
  return `${[
    '// Made from the schemas of the routes by the build; not edited by hand.',
    types
      .replace(/export interface Unused \{[^}]*\}\n?/, '')
      .replaceAll(/ *\* This interface was referenced by [^\n]*\n *\* via the [^\n]*\n/g, '')
      .replaceAll(/\/\*\*\n\s*\*\/\n/g, '')
      .replaceAll(/\/\*\*\n\s*\* ([^\n]*)\n(?:\s*\*\n)?\s*\*\//g, '/** $1 */')
      .trim(),
    `/** Every route, with its parameters and its body. */\nexport interface Routes {\n${entries.join('\n')}\n}`,
    "import type { Decimals } from './decimals.ts';",
    `export const decimals: { readonly [Path in keyof Routes]?: Decimals } = ${JSON.stringify(decimals)};`,
    `export const eventDecimals: Decimals = ${JSON.stringify(ofEvent)};`,
  ].join('\n\n')}\n`;
}
