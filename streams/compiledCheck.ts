import { z } from 'zod';

/** Whether a value fits a schema. */
export type Check = (value: unknown) => boolean;

/** String formats of zod that are a pattern and nothing else. */
const patternFormats: ReadonlySet<string> = new Set(['guid', 'datetime']);

/**
 * A schema as a predicate that allocates nothing: nearly all of many millions of messages fit, and zod makes several
 * objects of each member to say so. What is not known here of a schema is asked of zod, so the answer is always that of
 * `schema.safeParse(value).success`.
 */
export function compiledCheck(schema: z.ZodType): Check {
  const { def } = schema._zod;
  const checks = (def.checks ?? []).map((check) => check._zod.def as CheckDefinition);
  if (schema instanceof z.ZodObject) {
    const isPlain = schema._zod.def.catchall === undefined && checks.length === 0;
    return isPlain ? objectCheck(schema) : asked(schema);
  }
  if (schema instanceof z.ZodNullable && checks.length === 0) {
    const inner = compiledCheck(schema.unwrap() as z.ZodType);
    return (value) => value === null || inner(value);
  }
  if (schema instanceof z.ZodEnum && checks.length === 0) {
    const options: ReadonlySet<unknown> = new Set(schema.options);
    return (value) => options.has(value);
  }
  if (def.type === 'string') return stringCheck(schema, checks) ?? asked(schema);
  if (def.type === 'number' && (def as { format?: string }).format === 'safeint') {
    const [only] = checks;
    const isCount = checks.length === 1 && only?.check === 'greater_than' && only.value === 0;
    if (isCount && only.inclusive) return (value) => Number.isSafeInteger(value) && (value as number) >= 0;
  }
  return asked(schema);
}

/** As much as is read of what zod keeps of a check. */
interface CheckDefinition {
  readonly check: string;
  readonly pattern?: RegExp;
  readonly maximum?: number;
  readonly value?: unknown;
  readonly inclusive?: boolean;
  readonly fn?: (value: unknown) => unknown;
}

function asked(schema: z.ZodType): Check {
  return (value) => schema.safeParse(value).success;
}

function objectCheck(schema: z.ZodObject): Check {
  const members = Object.entries(schema.shape as Record<string, z.ZodType>).map(([key, member]) => ({
    key,
    check: compiledCheck(member),
  }));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    for (const { key, check } of members) if (!check((value as Record<string, unknown>)[key])) return false;
    return true;
  };
}

/** Null for a string of which more is checked than is known here. */
function stringCheck(schema: z.ZodType, checks: readonly CheckDefinition[]): Check | null {
  const parts: ((text: string) => unknown)[] = [];
  const { format, pattern, coerce } = schema._zod.def as {
    format?: string;
    pattern?: RegExp;
    coerce?: boolean;
  };
  if (coerce) return null;
  if (format !== undefined) {
    if (!patternFormats.has(format) || pattern === undefined) return null;
    parts.push((text) => pattern.test(text));
  }
  for (const check of checks) {
    const { pattern: own, maximum, fn } = check;
    if (check.check === 'string_format' && own !== undefined && !own.global)
      parts.push((text) => own.test(text));
    else if (check.check === 'max_length' && maximum !== undefined)
      parts.push((text) => text.length <= maximum);
    else if (check.check === 'custom' && fn !== undefined) parts.push(fn);
    else return null;
  }
  return (value) => {
    if (typeof value !== 'string') return false;
    for (const part of parts) if (!part(value)) return false;
    return true;
  };
}
