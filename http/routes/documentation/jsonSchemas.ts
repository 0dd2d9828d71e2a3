import { feedEvent } from '../../responses/feed/feedEvent.ts';
import { findSchemaPath, nameBody } from '../route.ts';
import { routes } from '../routes.ts';
import { schemaDialect } from './openApi.ts';

const refPrefix = '#/components/schemas/';
/** Formats that clients enable; what the others name, a pattern says too. */
const formats: readonly unknown[] = ['date', 'date-time', 'uuid'];

/** Names of the bodies and of an event, each of which has a JSON Schema. */
export const schemaNames: readonly string[] = [
  ...new Set([...routes, { response: feedEvent }].map(nameBody)),
];

/**
 * A schema of an OpenAPI document as a JSON Schema that needs nothing else.
 *
 * @param publicUrl where the service is reached, without a slash at its end; null: the schema has no ID.
 */
export function createJsonSchema(
  name: string,
  schemas: Readonly<Record<string, unknown>>,
  publicUrl: string | null,
): object {
  const definitions: Record<string, unknown> = {};
  const convert = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(convert);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).flatMap(([key, member]) => convertMember(key, member));
    // Strict validators take a pattern only next to its type, which several patterns of one text have outside of them.
    const isBarePattern = typeof (value as { pattern?: unknown }).pattern === 'string' && !('type' in value);
    return { ...(isBarePattern && { type: 'string' }), ...Object.fromEntries(members) };
  };
  const convertMember = (key: string, member: unknown): [string, unknown][] => {
    if (key === 'discriminator') return [];
    if (key === 'format' && !formats.includes(member)) return [['$comment', member]];
    if (key !== '$ref') return [[key, convert(member)]];
    const referred = String(member).slice(refPrefix.length);
    if (!(referred in definitions)) {
      // Before it is converted: it may refer to itself.
      definitions[referred] = {};
      definitions[referred] = convert(schemas[referred]);
    }
    return [[key, `#/$defs/${referred}`]];
  };
  const converted = convert(schemas[name]);
  return {
    $schema: schemaDialect,
    ...(publicUrl !== null && { $id: publicUrl + findSchemaPath(name) }),
    title: name,
    ...(converted as object),
    $defs: definitions,
  };
}
