/** A JSON Schema, as zod writes it. */
type Schema = Readonly<Record<string, unknown>>;

/** Words of a schema's name, from the schema with a name around it. A variant's word is needed only if variants differ in the member. */
type Place = readonly { readonly word: string; readonly isVariant?: true }[];

/** A schema without a name of its own. */
interface Part {
  readonly schema: Schema;
  readonly ref: string;
  /** Names that its places suggest. */
  readonly names: Set<string>;
}

/** The parts of an OpenAPI document that hold schemas. */
interface Described {
  readonly paths?: object;
  readonly components?: { readonly schemas?: object };
}

const refPrefix = '#/components/schemas/';
const partPrefix = '#/parts/';
/** Keys of operations below which no type has a name. */
const outsideKeys = ['headers', 'example', 'examples'];

/**
 * Makes a component of every object, union of objects and enumeration, since generators of clients number types without a name, or leave them out.
 * Every union of objects gets a discriminator with a mapping.
 *
 * The name of a schema is its `id` in zod. Without one it is made from the schema around it: `PortfolioConfiguration` for a member,
 * `PortfolioConfigurationLevel` for an item of its list `levels`, `PortfolioAvailable` for a variant. Equal schemas are one component, unless they
 * are variants of different unions. It has the shortest name that fits no other schema.
 *
 * @throws Error if a schema has no name of its own. It needs an `id`.
 */
export function nameSchemas<Document extends Described>(document: Document): Document {
  const parts = new Map<string, Part>();
  const named = (document.components?.schemas ?? {}) as Readonly<Record<string, Schema>>;
  const resolve = ({ $ref, ...schema }: Schema): Schema =>
    typeof $ref === 'string' ? (named[$ref.slice(refPrefix.length)] ?? {}) : schema;

  /**
   * Replaces a schema by a reference to its part if it needs a name.
   *
   * @param scope the union that a variant belongs to.
   */
  function visit(value: unknown, place: Place, scope = ''): unknown {
    if (!isSchema(value)) return value;
    const { $ref, description, default: chosen } = value;
    const refer = (ref: unknown) => ({
      $ref: ref,
      ...(description !== undefined && { description }),
      ...(chosen !== undefined && { default: chosen }),
    });
    // Zod repeats some of the schema that it refers to.
    if ($ref !== undefined) return refer($ref);
    const schema = visitMembers(value, place);
    if (!needsName(schema)) return schema;
    const key = JSON.stringify(schema) + scope;
    const part = parts.get(key) ?? { schema, ref: `${partPrefix}${parts.size}/`, names: new Set() };
    parts.set(key, part);
    part.names
      .add(writeName(place))
      .add(writeName(place.filter(({ isVariant }, at) => isVariant !== true || at === place.length - 1)));
    return refer(part.ref);
  }

  function visitMembers(schema: Schema, place: Place): Schema {
    const { properties, items, oneOf, anyOf } = schema;
    return {
      ...schema,
      ...(isSchema(properties) && {
        properties: mapMembers(properties, (member, name) =>
          visit(member, [
            ...place,
            { word: isSchema(member) && 'items' in member ? toSingular(name) : name },
          ]),
        ),
      }),
      ...(items !== undefined && { items: visit(items, place) }),
      ...(Array.isArray(anyOf) && { anyOf: anyOf.map((variant) => visit(variant, place)) }),
      ...(Array.isArray(oneOf) && visitVariants(oneOf, place)),
    };
  }

  function visitVariants(variants: readonly Schema[], place: Place) {
    const propertyName = findDiscriminator(variants.map(resolve));
    const scope = JSON.stringify(variants);
    const entries = variants.map((variant) => {
      const value = String(readConstant(resolve(variant), propertyName));
      return [
        value,
        visit(variant, [...place, { word: value, isVariant: true }], scope) as { $ref: string },
      ] as const;
    });
    const mapping = Object.fromEntries(entries.map(([value, { $ref }]) => [value, $ref]));
    return { oneOf: entries.map(([, variant]) => variant), discriminator: { propertyName, mapping } };
  }

  /** Visits the schemas of parameters and bodies. */
  function visitPath(value: unknown, place: Place): unknown {
    if (Array.isArray(value)) return value.map((item) => visitPath(item, place));
    if (!isSchema(value)) return value;
    const { operationId, name } = value;
    if (typeof operationId === 'string')
      return mapMembers(value, (member) => visitPath(member, [{ word: operationId }]));
    const within = typeof name === 'string' ? [...place, { word: name }] : place;
    return mapMembers(value, (member, key) => {
      if (key === 'schema') return visit(member, within);
      return outsideKeys.includes(key) ? member : visitPath(member, within);
    });
  }

  const paths = visitPath(document.paths, []);
  const schemas = mapMembers(named, (schema, name) => visitMembers(schema as Schema, [{ word: name }]));
  const names = chooseNames([...parts.values()], Object.keys(named));
  const components = {
    ...document.components,
    schemas: {
      ...schemas,
      ...Object.fromEntries([...parts.values()].map(({ ref, schema }) => [names.get(ref), schema])),
    },
  };
  const text = JSON.stringify({ ...document, paths, components });
  return JSON.parse(text.replaceAll(/#\/parts\/\d+\//g, (ref) => refPrefix + names.get(ref)));
}

/** Chooses the shortest name of each part that no other part and no component could have. */
function chooseNames(parts: readonly Part[], taken: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    parts.map((part) => {
      const isFree = (name: string) =>
        !taken.includes(name) && parts.every((other) => other === part || !other.names.has(name));
      const [name] = [...part.names].filter(isFree).sort((a, b) => a.length - b.length);
      if (name === undefined)
        throw new Error(`a schema needs an id: it could be ${[...part.names].join(' or ')}`);
      return [part.ref, name];
    }),
  );
}

/** Whether a schema is an object, a union of objects, or an enumeration. */
function needsName({ type, enum: values, oneOf }: Schema): boolean {
  return type === 'object' || oneOf !== undefined || (Array.isArray(values) && values.length > 1);
}

/** The member that has another constant in each variant. */
function findDiscriminator(variants: readonly Schema[]): string {
  const found = Object.keys((variants[0]?.properties ?? {}) as object).find(
    (name) =>
      new Set(variants.map((variant) => readConstant(variant, name) ?? Symbol('none'))).size ===
        variants.length && variants.every((variant) => readConstant(variant, name) !== undefined),
  );
  if (found === undefined) throw new Error('no member tells the variants of a union apart');
  return found;
}

function readConstant({ properties }: Schema, name: string): unknown {
  const { [name]: member } = (properties ?? {}) as Readonly<Record<string, Schema>>;
  return member?.const;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function mapMembers(
  value: object,
  change: (member: unknown, name: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, change(member, name)]));
}

/** Writes words such as `levels` or `system.settlement_completed` as the name of a type. */
function writeName(place: Place): string {
  return place
    .flatMap(({ word }) => word.split(/[^A-Za-z0-9]+/))
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function toSingular(name: string): string {
  return name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.replace(/s$/, '');
}
