import { isDeepStrictEqual } from 'node:util';
import type { Contract, Operation, Response, Schema } from '../../deploy/release/contract.ts';

/**
 * Changes that break a program written for the released contract, one line each. New routes, members and optional parameters break nothing, except for a
 * member of an object that the contract closes. A new value, code or status does, since a program may have no case for it.
 */
export function findBreakingChanges(released: Contract, current: Contract): string[] {
  return Object.entries(released.paths).flatMap(([path, { get }]) => {
    const now = current.paths[path]?.get;
    if (now === undefined) return [`${path}: is gone`];
    return [
      // The service must still accept a program's parameters, and the program must know each response.
      ...compareParameters(get, now, { from: released, to: current }),
      ...compareResponses(get, now, { from: current, to: released }),
    ].map((change) => `${path} ${change}`);
  });
}

/** The direction of values in a comparison: one side writes them, the other reads them. */
interface Direction {
  readonly from: Contract;
  readonly to: Contract;
}

function compareParameters(before: Operation, now: Operation, direction: Direction): string[] {
  const [known, taken] = [before.parameters ?? [], now.parameters ?? []];
  const changes = known.flatMap((parameter) => {
    const place = `${parameter.in} ${parameter.name}`;
    const same = taken.find((one) => one.in === parameter.in && one.name === parameter.name);
    if (same === undefined) return [`${place}: is gone`];
    const newlyRequired = same.required && !parameter.required ? [`${place}: is required now`] : [];
    return [...newlyRequired, ...compare(parameter.schema, same.schema, { ...direction, place })];
  });
  const added = taken.filter(
    (one) => one.required && !known.some(({ name, in: place }) => name === one.name && place === one.in),
  );
  return [...changes, ...added.map((one) => `${one.in} ${one.name}: is required now`)];
}

function compareResponses(before: Operation, now: Operation, direction: Direction): string[] {
  const added = Object.keys(now.responses).filter((status) => before.responses[status] === undefined);
  return [
    ...added.map((status) => `${status}: is new`),
    ...Object.entries(before.responses).flatMap(([status, response]) => {
      const same = now.responses[status];
      // An error that no longer occurs breaks nothing.
      if (same === undefined) return status < '400' ? [`${status}: is gone`] : [];
      return compareResponse(response, same, direction).map((change) => `${status} ${change}`);
    }),
  ];
}

function compareResponse(before: Response, now: Response, direction: Direction): string[] {
  const headers = Object.entries(before.headers ?? {}).flatMap(([name, header]) => {
    const same = now.headers?.[name];
    const place = `header ${name}`;
    if (same === undefined) return [`${place}: is gone`];
    const isOptional = header.required && !same.required ? [`${place}: may be missing`] : [];
    return [...isOptional, ...compare(same.schema, header.schema, { ...direction, place })];
  });
  const bodies = Object.entries(before.content ?? {}).flatMap(([type, { schema }]) => {
    const same = now.content?.[type];
    if (same === undefined) return [`${type}: is gone`];
    return compare(same.schema, schema, { ...direction, place: 'body' });
  });
  return [...headers, ...bodies];
}

/** Keywords that are compared by meaning; all others must stay unchanged. */
const understood = [
  ...['$ref', 'type', 'const', 'enum', 'properties', 'required', 'items', 'anyOf', 'oneOf'],
  ...['minimum', 'minLength', 'minItems', 'maximum', 'maxLength', 'maxItems'],
];

interface Comparison extends Direction {
  readonly place: string;
  readonly seen?: readonly string[];
}

/** Reasons why a reader of `read` may meet a value of `written` that it does not know. */
function compare(written: Schema, read: Schema, comparison: Comparison): string[] {
  const { place, seen = [] } = comparison;
  const pair = `${written.$ref} ${read.$ref}`;
  // Schemas that refer to themselves would be compared for ever.
  if (written.$ref !== undefined && read.$ref !== undefined && seen.includes(pair)) return [];
  const within = (one: Schema, other: Schema, at = place) =>
    compare(one, other, { ...comparison, place: at, seen: [...seen, pair] });
  const from = expand(written, comparison.from);
  const to = expand(read, comparison.to);
  const variants = from.anyOf ?? from.oneOf;
  if (variants !== undefined) return variants.flatMap((variant) => within(variant, read));
  const known = to.anyOf ?? to.oneOf;
  if (known !== undefined) {
    const changes = known.map((variant) => within(written, variant));
    return findNearest(changes, place);
  }
  const members = Object.entries(to.properties ?? {}).flatMap(([name, member]) => {
    const at = `${place}.${name}`;
    const same = from.properties?.[name];
    if (same === undefined) return [`${at}: is gone`];
    const isSure = from.required?.includes(name) || !to.required?.includes(name);
    return [...(isSure ? [] : [`${at}: may be missing`]), ...within(same, member, at)];
  });
  const added = Object.keys(from.properties ?? {}).filter((name) => to.properties?.[name] === undefined);
  const unknown = to.additionalProperties === false ? added.map((name) => `${place}.${name}: is new`) : [];
  const items = from.items && to.items ? within(from.items, to.items, `${place}[]`) : [];
  return [
    ...compareValues(from, to).map((change) => `${place}: ${change}`),
    ...members,
    ...unknown,
    ...items,
  ];
}

/** Changes of the most similar variant: the same type, and the fewest changes. */
function findNearest(changes: readonly (readonly string[])[], place: string): string[] {
  const countOwn = (one: readonly string[]) => one.filter((change) => change.startsWith(`${place}: `)).length;
  const [nearest = []] = [...changes].sort((a, b) => countOwn(a) - countOwn(b) || a.length - b.length);
  return [...nearest];
}

function expand(schema: Schema, contract: Contract): Schema {
  const { $ref, ...own } = schema;
  return $ref === undefined ? own : { ...expand(findSchema($ref, contract), contract), ...own };
}

function findSchema(ref: string, { components }: Contract): Schema {
  const found = components.schemas[ref.replace('#/components/schemas/', '')];
  if (found === undefined) throw new Error(`the document has no ${ref}`);
  return found;
}

function compareValues(from: Schema, to: Schema): string[] {
  const [given, known] = [listValues(from), listValues(to)];
  if (known !== null && given === null) return ['may be any value'];
  const values = (given ?? []).filter((value) => known !== null && !known.includes(value));
  const isKnown = (type: string) =>
    listTypes(to).some((known) => known === type || (known === 'number' && type === 'integer'));
  const types = listTypes(from).filter((type) => !isKnown(type) && to.type !== undefined);
  const isWider = (keyword: string, sign: number) => {
    const bound = to[keyword];
    if (typeof bound !== 'number' || given !== null) return false;
    const own = from[keyword];
    return typeof own !== 'number' || sign * own < sign * bound;
  };
  const keywords = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  return [
    ...values.map((value) => `may be ${JSON.stringify(value)}`),
    ...types.map((type) => `may be of type ${type}`),
    ...['minimum', 'minLength', 'minItems'].filter((one) => isWider(one, 1)).map((one) => `${one} is lower`),
    ...['maximum', 'maxLength', 'maxItems']
      .filter((one) => isWider(one, -1))
      .map((one) => `${one} is higher`),
    ...keywords
      .filter(
        (one) => !understood.includes(one) && to[one] !== undefined && !isDeepStrictEqual(from[one], to[one]),
      )
      .map((one) => `${one} differs`),
  ];
}

function listValues(schema: Schema): readonly unknown[] | null {
  return schema.const !== undefined ? [schema.const] : (schema.enum ?? null);
}

function listTypes({ type = [] }: Schema): readonly string[] {
  return [type].flat();
}
