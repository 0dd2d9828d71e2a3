/** The part of JSON Schema that the published document uses. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly [keyword: string]: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Response {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean; readonly schema: Schema }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, Response>>;
}

/** An OpenAPI document without explanations: the part that programs depend on. */
export interface Contract {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const explanations = [
  'description',
  'summary',
  'title',
  'example',
  'examples',
  'default',
  'tags',
  'discriminator',
];
/** Members with names chosen by the document's authors, which are not keywords. */
const nameSpaces = ['properties', 'schemas', 'paths', 'responses', 'headers', 'content'];

export function toContract(document: object): Contract {
  const { info, paths, components } = JSON.parse(JSON.stringify(document), narrowError) as Contract;
  const { schemas } = components;
  const stripped = { info: { version: info.version }, paths, components: { schemas } };
  // No member of the type is left out.
  return stripExplanations(stripped, false) as Contract;
}

/** All errors have one schema. A response has only the codes of its examples. */
function narrowError(_key: string, value: { readonly schema?: Schema; readonly examples?: object } | null) {
  if (value?.schema?.$ref !== '#/components/schemas/ErrorBody') return value;
  const error = { type: 'string', enum: Object.keys(value.examples ?? {}) };
  return { schema: { type: 'object', properties: { error }, required: ['error'] } };
}

function stripExplanations(value: unknown, hasNames: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => stripExplanations(item, false));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => hasNames || !explanations.includes(key))
      .map(([key, member]) => [key, stripExplanations(member, !hasNames && nameSpaces.includes(key))]),
  );
}

/** Writes one path per line, so that a diff shows which path has changed. */
export function writeContract({ info, paths, components }: Contract): string {
  const lines = (members: object) =>
    Object.entries(members)
      .map(([name, member]) => `${JSON.stringify(name)}:${JSON.stringify(member)}`)
      .join(',\n');
  return `{"info":${JSON.stringify(info)},\n"paths":{\n${lines(paths)}\n},\n"components":{"schemas":{\n${lines(components.schemas)}\n}}}\n`;
}
