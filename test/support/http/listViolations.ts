type Json = Record<string, unknown>;

interface Schema extends Json {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly required?: readonly string[];
}

/** Path of a member and a value that it must not have; undefined if the member is required. */
type Violation = readonly [member: string, value: unknown];

/**
 * Returns one violation of each constraint that a published schema puts on a body.
 *
 * @param fits whether the schema at a pointer of the document accepts a value.
 */
export function listViolations(
  document: object,
  fits: (pointer: string, value: unknown) => boolean,
): (pointer: string, body: unknown) => Violation[] {
  const find = (pointer: string) =>
    pointer
      .split('/')
      .slice(1)
      .reduce((node, key) => node[unescapeKey(key)] as Json, document as Json) as Schema;

  function list(pointer: string, value: unknown, member: string): Violation[] {
    const schema = find(pointer);
    if (schema.$ref !== undefined) return list(schema.$ref.slice(1), value, member);
    for (const union of ['anyOf', 'oneOf'] as const) {
      const variants = schema[union] ?? [];
      const index = variants.findIndex((_, at) => fits(`${pointer}/${union}/${at}`, value));
      if (variants.length > 0) return list(`${pointer}/${union}/${index}`, value, member);
    }
    const inner = (key: string) => (member === '' ? key : `${member}.${key}`);
    const wrong = member === '' ? [] : listWrong(schema, value).map((one): Violation => [member, one]);
    if (Array.isArray(value)) {
      const [first] = value;
      return first === undefined ? wrong : [...wrong, ...list(`${pointer}/items`, first, inner('0'))];
    }
    if (typeof value !== 'object' || value === null) return wrong;
    const missing = (schema.required ?? []).map((key): Violation => [inner(key), undefined]);
    const members = Object.entries(value).flatMap(([key, one]) =>
      schema.properties?.[key] === undefined ? [] : list(`${pointer}/properties/${key}`, one, inner(key)),
    );
    return [...wrong, ...missing, ...members];
  }
  return (pointer, body) => list(pointer, body, '');
}

const unescapeKey = (key: string) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');

/** Returns values that violate the schema's own constraints. */
function listWrong(schema: Schema, value: unknown): unknown[] {
  const wrong: unknown[] = [Array.isArray(value) ? {} : []];
  const bound = (keyword: string, build: (limit: number) => unknown) => {
    const limit = schema[keyword];
    if (typeof limit === 'number') wrong.push(build(limit));
  };
  if (schema.const !== undefined) wrong.push(`${schema.const} `);
  if (schema.enum !== undefined) wrong.push('none of these');
  if (schema.type === 'integer') wrong.push(0.5);
  if (typeof value === 'string') {
    if (schema.format !== undefined) wrong.push('of no format');
    if (schema.pattern !== undefined) wrong.push('\u0000');
    bound('minLength', (limit) => (limit === 0 ? [] : 'x'.repeat(limit - 1)));
    bound('maxLength', (limit) => value.padEnd(limit + 1, 'x'));
  }
  bound('minimum', (limit) => limit - 1);
  bound('maximum', (limit) => limit + 1);
  if (Array.isArray(value)) {
    bound('minItems', (limit) => (limit === 0 ? {} : value.slice(0, limit - 1)));
    bound('maxItems', (limit) => Array.from({ length: limit + 1 }, () => value[0]));
  }
  return wrong;
}
