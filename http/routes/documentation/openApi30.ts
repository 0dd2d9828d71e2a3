type Json = Readonly<Record<string, unknown>>;

interface Document extends Json {
  readonly info: { readonly license: Json };
  readonly components: { readonly schemas: Readonly<Record<string, Json | undefined>> };
}

/** Members that hold values instead of schemas. */
const valueKeys = ['example', 'default', 'enum', 'examples', 'mapping'];

/**
 * Writes an OpenAPI 3.1 document as OpenAPI 3.0, for generators and gateways that read no later version. It describes the same requests and bodies:
 * a constant becomes an enumeration of one value, and an alternative with null becomes `nullable`.
 */
export function toOpenApi30(document: object): Json {
  const { jsonSchemaDialect: _dialect, info, components, ...others } = document as Document;
  const { identifier: _identifier, ...license } = info.license;
  const { schemas } = components;

  function convertMember(value: unknown, key: string): unknown {
    if (valueKeys.includes(key)) return value;
    return key === 'properties' ? mapMembers(value as Json, convert) : convert(value);
  }

  function convert(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(convert);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, const: constant, anyOf, examples, type, ...rest } = value as Json;
    const converted: Json = {
      ...mapMembers(rest, convertMember),
      ...(type !== undefined && { type }),
      ...(constant !== undefined && { enum: [constant] }),
      // A schema has a list of examples, an operation has named ones.
      ...(Array.isArray(examples) ? { example: examples[0] } : examples !== undefined && { examples }),
    };
    if ($ref !== undefined) return refer($ref, converted);
    if (Array.isArray(type)) return { ...converted, type: type[0], nullable: true };
    if (!Array.isArray(anyOf)) return converted;
    // The other alternative is null.
    const { $ref: named, ...alternative } = convert(anyOf[0]) as Json;
    const nullable = { ...alternative, ...converted, nullable: true };
    return named === undefined ? nullable : refer(named, { type: findType(named), ...nullable });
  }

  const findType = (ref: unknown) => schemas[String(ref).split('/').at(-1) as string]?.type;
  return {
    ...mapMembers({ ...others, components }, convertMember),
    openapi: '3.0.3',
    info: { ...info, license },
  };
}

/** Version 3.0 ignores what is next to a reference. */
function refer($ref: unknown, others: Json): Json {
  return Object.keys(others).length === 0 ? { $ref } : { ...others, allOf: [{ $ref }] };
}

function mapMembers(value: object, change: (member: unknown, name: string) => unknown) {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member, name)]));
}
