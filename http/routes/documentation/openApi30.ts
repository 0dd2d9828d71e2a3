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
 *
 * Two things are left out for progenitor, which makes programs of them that do not compile: the shortest length of lists that always have the same length,
 * and headers with the name of another parameter.
 */
export function toOpenApi30(document: object): Json {
  const { jsonSchemaDialect: _dialect, info, components, ...others } = document as Document;
  const { identifier: _identifier, ...license } = info.license;
  const { schemas } = components;

  function convertMember(value: unknown, key: string): unknown {
    if (valueKeys.includes(key)) return value;
    if (key === 'parameters' && Array.isArray(value)) return dropTwins(value).map(convert);
    return key === 'properties' ? mapMembers(value as Json, convert) : convert(value);
  }

  function convert(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(convert);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, const: constant, anyOf, examples, type, minItems, ...rest } = value as Json;
    const converted: Json = {
      ...mapMembers(rest, convertMember),
      ...(minItems !== undefined && minItems !== rest.maxItems && { minItems }),
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

interface Parameter {
  readonly in: string;
  readonly name: string;
}

function dropTwins(parameters: readonly Parameter[]): readonly Parameter[] {
  const toWord = ({ name }: Parameter) => name.replaceAll('-', '').toLowerCase();
  const words = parameters.filter((one) => one.in !== 'header').map(toWord);
  return parameters.filter((one) => one.in !== 'header' || !words.includes(toWord(one)));
}

/** Version 3.0 ignores what is next to a reference. */
function refer($ref: unknown, others: Json): Json {
  return Object.keys(others).length === 0 ? { $ref } : { ...others, allOf: [{ $ref }] };
}

function mapMembers(value: object, change: (member: unknown, name: string) => unknown) {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member, name)]));
}
