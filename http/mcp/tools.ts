import { z } from 'zod';
import { createJsonSchema } from '../routes/documentation/jsonSchemas.ts';
import { createOpenApiDocument } from '../routes/documentation/openApi.ts';
import { nameBody, type Route, topics } from '../routes/route.ts';
import { routes } from '../routes/routes.ts';

/** A tool for a language model: one route of the service. */
interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. Some hosts follow no references, so it has none. */
  readonly inputSchema: ObjectSchema;
  /** JSON Schema of the answer, whose lists and long texts may be cut. */
  readonly outputSchema: ObjectSchema;
  /**
   * Builds the path and query of the request.
   *
   * @throws ZodError if an argument is missing or invalid.
   */
  readonly path: (input: unknown) => string;
}

interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Document {
  readonly paths: Readonly<Record<string, { readonly get: { readonly parameters: readonly Parameter[] } }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A path with the segment `.` or `..`, even encoded, would name another route (WHATWG URL, path state). */
const isSegment = (value: unknown) => !/^\.{1,2}$/.test(String(value));

/** Lists each resource once: without the public routes that repeat a plain one. */
export function createTools(): readonly Tool[] {
  // The document is JSON, and each of its operations has parameters.
  const document = createOpenApiDocument() as unknown as Document;
  return routes
    .filter(({ path }) => !/^\/v[24]\/public\//.test(path))
    .map((route) => describeTool(route, document));
}

function describeTool(route: Route, { paths, components: { schemas } }: Document): Tool {
  const query = typeof route.query === 'string' ? [] : route.query;
  const { pathParameter } = route;
  const parameters = (paths[route.path]?.get.parameters ?? []).filter(({ in: place }) => place !== 'header');
  const input = z.strictObject({
    ...(pathParameter !== null && {
      [pathParameter.name]: z.string().refine(isSegment, 'is . or .., which no path can hold'),
    }),
    ...Object.fromEntries(
      query.map(({ name, schema, isRequired }) => [name, isRequired ? schema : schema.optional()]),
    ),
  });
  return {
    name: route.operationId,
    description: `${route.summary}. ${topics[route.topic]}.`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        parameters.map(({ name, description, schema: { $ref, ...own } }) => {
          const referred = $ref === undefined ? {} : schemas[String($ref).split('/').at(-1) as string];
          return [name, { ...referred, ...own, ...(description !== undefined && { description }) }];
        }),
      ),
      required: parameters.filter(({ required }) => required).map(({ name }) => name),
      additionalProperties: false,
    },
    outputSchema: loosen(createJsonSchema(nameBody(route), schemas, null)),
    path: (given) => {
      const values: Readonly<Record<string, unknown>> = input.parse(given);
      const path = route.path.replace(/\{(\w+)\}/, (_, name: string) =>
        encodeURIComponent(String(values[name])),
      );
      const asked = query.flatMap(({ name }) =>
        values[name] === undefined ? [] : [[name, String(values[name])] as [string, string]],
      );
      return asked.length === 0 ? path : `${path}?${new URLSearchParams(asked)}`;
    },
  };
}

/** Leaves out lengths of lists, which may be cut, and patterns, which would be most of the text. */
function loosen(schema: object): ObjectSchema {
  const text = JSON.stringify(schema, (key, value) =>
    key === 'minItems' || key === 'pattern' ? undefined : value,
  );
  return JSON.parse(text) as ObjectSchema;
}
