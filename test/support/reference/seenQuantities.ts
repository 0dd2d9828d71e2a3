import { z } from 'zod';
import type { Route } from '../../../http/routes/route.ts';
import { routes } from '../../../http/routes/routes.ts';
import { isContainer } from './listDifferences.ts';

/** Up to two compared values by route and member. */
const seenValues = new Map<string, Set<string>>();

/** Notes the members of a body that were compared with a reference's answer. */
export function noteMembers(path: string, body: unknown, answer: unknown): void {
  const pathname = path.split('?')[0] as string;
  const isOf = (route: Route) => new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname);
  note(routes.find(isOf)?.path ?? 'unknown', body, answer);
}

function note(member: string, value: unknown, answer: unknown): void {
  const entries = isContainer(value) && isContainer(answer) ? Object.entries(value) : [];
  for (const [name, inner] of entries)
    if (isContainer(answer) && name in answer)
      note(Array.isArray(value) ? `${member}[]` : `${member}.${name}`, inner, answer[name]);
  if (entries.length > 0 || Array.isArray(value)) return;
  const values = seenValues.get(member) ?? new Set();
  if (values.size === 2) return;
  values.add(JSON.stringify(value));
  seenValues.set(member, values);
}

/** Members of all responses that hold a number or a time and were not compared with two different values, or with one if they are `isFixed`. */
export function listUnseenQuantities(isFixed: (member: string) => boolean): string[] {
  return routes.flatMap(({ path, response }) => {
    const { $defs = {}, ...schema } = z.toJSONSchema(response, { unrepresentable: 'any' });
    const members = new Set<string>();
    collectQuantities(schema, $defs, path, members);
    return [...members].filter((member) => (seenValues.get(member)?.size ?? 0) < (isFixed(member) ? 1 : 2));
  });
}

type Schema = z.core.JSONSchema.BaseSchema;

/** Collects the members of a schema that hold a number or a time, and are no constant. */
function collectQuantities(
  schema: Schema,
  definitions: Readonly<Record<string, Schema>>,
  member: string,
  members: Set<string>,
): void {
  const collect = (inner: Schema | boolean, name = member) => {
    if (typeof inner === 'object') collectQuantities(inner, definitions, name, members);
  };
  if (schema.$ref !== undefined) collect(definitions[schema.$ref.split('/').at(-1) as string] as Schema);
  for (const variant of [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])])
    collect(variant);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) collect(inner, `${member}.${name}`);
  if (schema.type === 'array' && schema.items !== undefined) collect(schema.items as Schema, `${member}[]`);
  const isNumber = schema.type === 'integer' || schema.type === 'number';
  const isText = schema.format === 'date-time' || isDecimal(schema.pattern);
  if (schema.const === undefined && (isNumber || isText)) members.add(member);
}

/** Whether a pattern is of decimals: it accepts one, and no other text. */
function isDecimal(pattern: string | undefined): boolean {
  if (pattern === undefined) return false;
  const accepts = (text: string) => new RegExp(pattern).test(text);
  return accepts('17') && !['017', 'a', '-1', '0x1'].some(accepts);
}
