import { feedEvent } from '../../responses/feed/feedEvent.ts';
import { findSchemaPath, nameBody } from '../route.ts';
import { routes } from '../routes.ts';
import { schemaDialect } from './openApi.ts';

const refPrefix = '#/components/schemas/';
/** Formats that validators know. Every other format has a pattern too. */
const formats: readonly unknown[] = ['date', 'date-time', 'uuid'];

/** Names of the JSON Schemas: one for each body, and one for an event. */
export const schemaNames: readonly string[] = [
  ...new Set([...routes, { response: feedEvent }].map(nameBody)),
];

/**
 * Converts a schema of an OpenAPI document to a self-contained JSON Schema.
 *
 * @param publicUrl public base URL of the service, without a trailing slash; null: the schema has no `$id`.
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
    // Strict validators accept a pattern only next to its type. If a text has several patterns, its type is outside of them.
    const isBarePattern = typeof (value as { pattern?: unknown }).pattern === 'string' && !('type' in value);
    return { ...(isBarePattern && { type: 'string' }), ...Object.fromEntries(members) };
  };
  const convertMember = (key: string, member: unknown): [string, unknown][] => {
    if (key === 'discriminator') return [];
    if (key === 'format' && !formats.includes(member)) return [['$comment', member]];
    if (key !== '$ref') return [[key, convert(member)]];
    const referred = String(member).slice(refPrefix.length);
    if (!(referred in definitions)) {
      // Entered before it is converted, since it may refer to itself.
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
