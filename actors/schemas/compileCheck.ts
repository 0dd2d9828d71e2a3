import { z } from 'zod';

/*
 * zod types what a schema consists of by its core, of which every schema of this program is a `z.ZodType`, and what it keeps of checks and formats
 * not at all: the casts here name it.
 */

/** Whether a value matches a schema. */
export type Check = (value: unknown) => boolean;

/** String formats of zod that are a pattern and nothing else. */
const patternFormats: ReadonlySet<string> = new Set(['guid', 'datetime', 'date']);

/** The same as {@link compileCheck}, for who needs the value with its type. */
export function compileGuard<Schema extends z.ZodType>(
  schema: Schema,
): (value: unknown) => value is z.output<Schema> {
  const fits = compileCheck(schema);
  return (value): value is z.output<Schema> => fits(value);
}

/**
 * A schema as a predicate that allocates next to nothing: nearly all of many millions of messages and bodies fit, and zod makes
 * several objects of each member to say so. What is not compiled here is left to zod, so the result is always that of
 * `schema.safeParse(value).success`.
 */
export function compileCheck(schema: z.ZodType): Check {
  const { def } = schema._zod;
  const checks = (def.checks ?? []).map((check) => check._zod.def as CheckDefinition);
  return compileKnown(schema, checks) ?? askSchema(schema);
}

/** The function that is all that is checked of a string; null for any other schema. */
export function findRefinement(schema: z.ZodType): ((text: string) => unknown) | null {
  const { type, format, coerce, checks = [] } = schema._zod.def as StringDefinition;
  const [only, ...others] = checks.map((check) => check._zod.def as CheckDefinition);
  if (type !== 'string' || format !== undefined || coerce || others.length > 0) return null;
  return only?.check === 'custom' ? (only.fn ?? null) : null;
}

/** Null for a schema of which more is checked than is known here. */
function compileKnown(schema: z.ZodType, checks: readonly CheckDefinition[]): Check | null {
  if (schema instanceof z.ZodObject) return compileObject(schema, checks);
  if (schema instanceof z.ZodArray) return compileArray(schema, checks);
  const { type } = schema._zod.def;
  if (type === 'string') return compileString(schema, checks);
  if (type === 'number') return compileInteger(schema, checks);
  if (checks.length > 0) return null;
  if (schema instanceof z.ZodNullable) {
    const inner = compileCheck(schema.unwrap() as z.ZodType);
    return (value) => value === null || inner(value);
  }
  if (schema instanceof z.ZodOptional) {
    const inner = compileCheck(schema.unwrap() as z.ZodType);
    return (value) => value === undefined || inner(value);
  }
  if (schema instanceof z.ZodEnum) {
    const options: ReadonlySet<unknown> = new Set(schema.options);
    return (value) => options.has(value);
  }
  if (schema instanceof z.ZodLiteral) {
    const values: ReadonlySet<unknown> = schema.values;
    return (value) => values.has(value);
  }
  if (schema instanceof z.ZodBigInt) return (value) => typeof value === 'bigint';
  if (schema instanceof z.ZodUnknown) return () => true;
  if (schema instanceof z.ZodBoolean) return (value) => typeof value === 'boolean';
  if (schema instanceof z.ZodDiscriminatedUnion) return compileDiscriminated(schema);
  if (schema instanceof z.ZodUnion) {
    const options = schema.options.map((option) => compileCheck(option as z.ZodType));
    return (value) => options.some((fits) => fits(value));
  }
  return null;
}

/** As much as is read of what zod keeps of a check. */
interface CheckDefinition {
  readonly check: string;
  readonly pattern?: RegExp;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly length?: number;
  readonly value?: unknown;
  readonly inclusive?: boolean;
  readonly fn?: (value: unknown) => unknown;
}

/** As much as is read of what zod keeps of a string. */
type StringDefinition = z.core.$ZodTypeDef & {
  readonly format?: string;
  readonly pattern?: RegExp;
  readonly coerce?: boolean;
};

/** A JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of an object's schema. */
export interface MemberCheck {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly fits: Check;
}

export function compileMembers(schema: z.ZodObject): MemberCheck[] {
  const members = Object.entries(schema.shape as Record<string, z.ZodType>);
  return members.map(([name, member]) => ({ name, schema: member, fits: compileCheck(member) }));
}

function askSchema(schema: z.ZodType): Check {
  return (value) => schema.safeParse(value).success;
}

/** Objects that let other members pass, and strict ones. */
function compileObject(schema: z.ZodObject, checks: readonly CheckDefinition[]): Check | null {
  const { catchall } = schema._zod.def;
  const refinements = collectRefinements(checks);
  if (refinements === null || !(catchall === undefined || catchall instanceof z.ZodNever)) return null;
  const isStrict = catchall !== undefined;
  const members = compileMembers(schema);
  const names: ReadonlySet<string> = new Set(members.map(({ name }) => name));
  return (value) => {
    if (!isRecord(value)) return false;
    for (const { name, fits } of members) if (!fits(value[name])) return false;
    if (isStrict) for (const name of Object.keys(value)) if (!names.has(name)) return false;
    for (const refinement of refinements) if (!refinement(value)) return false;
    return true;
  };
}

function compileArray(schema: z.ZodArray, checks: readonly CheckDefinition[]): Check | null {
  const fits = compileCheck(schema.element as z.ZodType);
  let [least, most] = [0, Number.POSITIVE_INFINITY];
  const refinements: ((items: readonly unknown[]) => unknown)[] = [];
  for (const { check, minimum, maximum, length, fn } of checks) {
    if (check === 'min_length' && minimum !== undefined) least = Math.max(least, minimum);
    else if (check === 'max_length' && maximum !== undefined) most = Math.min(most, maximum);
    else if (check === 'length_equals' && length !== undefined)
      [least, most] = [Math.max(least, length), Math.min(most, length)];
    else if (check === 'custom' && fn !== undefined) refinements.push(fn);
    else return null;
  }
  return (value) => {
    if (!Array.isArray(value) || value.length < least || value.length > most) return false;
    for (const item of value) if (!fits(item)) return false;
    for (const refinement of refinements) if (!refinement(value)) return false;
    return true;
  };
}

/** Where each option has literals of its own under the discriminator. */
function compileDiscriminated(schema: z.ZodDiscriminatedUnion): Check | null {
  const { discriminator } = schema._zod.def;
  const byValue = new Map<unknown, Check>();
  for (const option of schema.options) {
    if (!(option instanceof z.ZodObject)) return null;
    const literal = option.shape[discriminator];
    if (!(literal instanceof z.ZodLiteral)) return null;
    const fits = compileCheck(option);
    for (const value of literal.values) byValue.set(value, fits);
  }
  return (value) => {
    return isRecord(value) && (byValue.get(value[discriminator])?.(value) ?? false);
  };
}

/** Integers that JSON numbers hold exactly, within bounds. */
function compileInteger(schema: z.ZodType, checks: readonly CheckDefinition[]): Check | null {
  if ((schema._zod.def as { format?: string }).format !== 'safeint') return null;
  const parts: ((value: number) => boolean)[] = [];
  for (const { check, value: bound, inclusive } of checks) {
    if (typeof bound !== 'number' || !Number.isSafeInteger(bound)) return null;
    if (check === 'greater_than')
      parts.push(inclusive ? (value) => value >= bound : (value) => value > bound);
    else if (check === 'less_than')
      parts.push(inclusive ? (value) => value <= bound : (value) => value < bound);
    else if (check === 'multiple_of') parts.push((value) => value % bound === 0);
    else return null;
  }
  return (value) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) return false;
    for (const part of parts) if (!part(value)) return false;
    return true;
  };
}

/** Null where something else than a refinement is checked. */
function collectRefinements(checks: readonly CheckDefinition[]): ((value: unknown) => unknown)[] | null {
  const refinements = checks.map(({ check, fn }) => (check === 'custom' ? fn : undefined));
  return refinements.every((one) => one !== undefined) ? refinements : null;
}

/** Null for a string of which more is checked than is known here. */
function compileString(schema: z.ZodType, checks: readonly CheckDefinition[]): Check | null {
  const parts: ((text: string) => unknown)[] = [];
  const { format, pattern, coerce } = schema._zod.def as StringDefinition;
  if (coerce) return null;
  if (format !== undefined) {
    if (!patternFormats.has(format) || pattern === undefined) return null;
    parts.push((text) => pattern.test(text));
  }
  for (const { check, pattern: own, minimum, maximum, fn } of checks) {
    if (check === 'string_format' && own !== undefined && !own.global && !own.sticky)
      parts.push((text) => own.test(text));
    else if (check === 'min_length' && minimum !== undefined) parts.push((text) => text.length >= minimum);
    else if (check === 'max_length' && maximum !== undefined) parts.push((text) => text.length <= maximum);
    else if (check === 'custom' && fn !== undefined) parts.push(fn);
    else return null;
  }
  return (value) => {
    if (typeof value !== 'string') return false;
    for (const part of parts) if (!part(value)) return false;
    return true;
  };
}
