import { z } from 'zod';
import type { Route } from '../../../http/routes/route.ts';
import { routes } from '../../../http/routes/routes.ts';
import { opaque } from '../../reference/messages.ts';

interface Difference {
  readonly member: string;
  readonly program: unknown;
  readonly reference: unknown;
}

/** Lists differences of two bodies. An opaque text of the reference matches any text of the program. */
export function listDifferences(program: unknown, reference: unknown, member = ''): Difference[] {
  if (reference === opaque)
    return typeof program === 'string' && program !== '' ? [] : [{ member, program, reference }];
  if (!isContainer(program) || !isContainer(reference) || Array.isArray(program) !== Array.isArray(reference))
    return Object.is(program, reference) ? [] : [{ member, program, reference }];
  // A member that is undefined is not sent.
  const names = new Set([...Object.keys(program), ...Object.keys(reference)]);
  return [...names].flatMap((name) => listDifferences(program[name], reference[name], `${member}.${name}`));
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Up to two compared values by route and member. */
const seenValues = new Map<string, Set<string>>();

/** Notes the members of a compared body. */
export function noteMembers(path: string, body: unknown): void {
  const pathname = path.split('?')[0] as string;
  const isOf = (route: Route) => new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname);
  note(routes.find(isOf)?.path ?? 'unknown', body);
}

function note(member: string, value: unknown): void {
  const entries = isContainer(value) ? Object.entries(value) : [];
  for (const [name, inner] of entries)
    note(Array.isArray(value) ? `${member}[]` : `${member}.${name}`, inner);
  if (entries.length > 0 || Array.isArray(value)) return;
  const values = seenValues.get(member) ?? new Set();
  if (values.size < 2) values.add(JSON.stringify(value));
  seenValues.set(member, values);
}

/**
 * Members of all routes' responses that were not compared with two different values. One value is enough for constants, and for members that `isFixed`
 * by the deployment.
 */
export function listUnseenMembers(isFixed: (member: string) => boolean): string[] {
  return routes.flatMap(({ path, response }) => {
    const { $defs = {}, ...schema } = z.toJSONSchema(response, { unrepresentable: 'any' });
    const members = new Map<string, Set<unknown>>();
    collectMembers(schema, $defs, path, members);
    return [...members].flatMap(([member, constants]) => {
      const values = seenValues.get(member) ?? new Set();
      const isOneEnough = (constants.size === 1 && !constants.has(null)) || isFixed(member);
      return values.size >= (isOneEnough ? 1 : 2) && !(isOneEnough && values.has('null')) ? [] : [member];
    });
  });
}

type Schema = z.core.JSONSchema.BaseSchema;

/** Collects the members of a schema with their possible constants; null if a member may be anything. */
function collectMembers(
  schema: Schema,
  definitions: Readonly<Record<string, Schema>>,
  member: string,
  members: Map<string, Set<unknown>>,
): void {
  const collect = (inner: Schema | boolean, name = member) => {
    if (typeof inner === 'object') collectMembers(inner, definitions, name, members);
  };
  if (schema.$ref !== undefined) {
    collect(definitions[schema.$ref.split('/').at(-1) as string] as Schema);
    return;
  }
  const variants = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  if (variants.length > 0) {
    for (const variant of variants) if (variant.type !== 'null') collect(variant);
    return;
  }
  for (const [name, inner] of Object.entries(schema.properties ?? {})) collect(inner, `${member}.${name}`);
  if (schema.type === 'array' && schema.items !== undefined) collect(schema.items as Schema, `${member}[]`);
  const isLeaf =
    schema.type !== undefined && schema.type !== 'array' && Object.keys(schema.properties ?? {}).length === 0;
  if (!isLeaf) return;
  const isEmptyObject = schema.type === 'object';
  const constant = schema.const ?? (schema.enum?.length === 1 ? schema.enum[0] : isEmptyObject ? {} : null);
  members.set(member, (members.get(member) ?? new Set()).add(constant));
}
