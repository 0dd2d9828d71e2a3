import { z } from 'zod';
import {
  type CreateDocumentOptions,
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi';
import { listKeys } from '../../../actors/schemas/listKeys.ts';
import { interfaceVersion } from '../../../actors/versions.ts';
import { feedCategory } from '../../responses/feed/events.ts';
import { defineObject } from '../../responses/scalars.ts';
import { type ErrorCode, errorStatus } from '../errors.ts';
import { rateClasses } from '../rateClasses.ts';
import { findSchemaPath, nameBody, type Route, topics } from '../route.ts';
import { routes } from '../routes.ts';
import { examples } from './examples.ts';

export const schemaDialect = 'https://json-schema.org/draft/2020-12/schema';

const requestId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{8,128}$/)
  .meta({
    description: 'ID of the request in logs; generated unless the client sends one',
    example: 'trace-0001',
  });
const cacheControl = z.string().describe('How long a stored copy may be used without revalidation');
const expires = z.string().meta({
  description: 'A time in the past: caches ask before every use',
  example: 'Sat, 01 Jan 2000 00:00:00 GMT',
});
const retryAfter = z
  .string()
  .regex(/^[1-9][0-9]*$/)
  .meta({ description: 'Seconds to wait', example: '2' });
const etag = z
  .string()
  .regex(/^(?:W\/)?"[^"]+"$/)
  .meta({ description: 'Tag to send back verbatim in If-None-Match; weak if the body is compressed' });

const ifNoneMatch = z.string().optional().meta({ description: 'The tag, its weak form, a list, or *' });
const rateLimitPolicy = z.string().meta({
  description:
    'The rate class, its burst of requests (`q`), and the seconds after which a full burst is allowed again (`w`). Present if rate limits are on',
  example: '"publicFast";q=60;w=2',
});
const rateLimit = z.string().meta({
  description:
    'Requests that are left (`r`), and the seconds over which to spread them (`t`). Present if rate limits are on',
  example: '"publicFast";r=59;t=2',
});
const help = z.string().meta({
  description: 'The page that explains the error',
  example: '</docs/errors#invalid_query>; rel="help"',
});

const commonHeaders = {
  'X-Request-Id': requestId,
  'RateLimit-Policy': rateLimitPolicy.optional(),
  RateLimit: rateLimit.optional(),
};

const uncachedHeaders = z.object({
  ...commonHeaders,
  'Cache-Control': cacheControl.meta({ example: 'no-store' }),
});

/** Body of every error. A response lists the codes that it can have as examples. */
const errorBody = defineObject('ErrorBody', {
  error: z.enum(listKeys(errorStatus)).meta({
    id: 'ErrorCode',
    description: 'Code of the error; the description of each response explains its codes',
  }),
});

const commonErrors: readonly ErrorCode[] = [
  'cors_origin_not_allowed',
  'rate_limited',
  'internal_error',
  'database_unavailable',
];
/** Further errors of read routes, which may have to wait. */
const readErrors: readonly ErrorCode[] = ['database_busy', 'request_timeout'];

/**
 * The OpenAPI 3.1 document, generated from the route table and the schemas that type and check the responses.
 *
 * @param publicUrl public base URL of the service, without a trailing slash; null for any address.
 */
export function createOpenApiDocument(publicUrl: string | null = null) {
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) paths[route.path] = { get: describeOperation(route) };
  Object.assign(paths, otherPaths);
  const document: ZodOpenApiObject = {
    openapi: '3.1.0',
    info: {
      title: 'Mining Activity Read Service',
      version: interfaceVersion,
      description:
        'Mining activity of a physical wheel, read-only: measured, optimistic, settled, issued. Unknown is never shown as zero: `status: unavailable` and null mean that a value is ' +
        'unknown. Clients must ignore unknown fields within a version. HEAD works wherever GET does. `/docs` explains all of it; some tables are also CSV files (`/docs/find#tables-for-spreadsheets`).',
      license: { name: 'UNLICENSED', identifier: 'LicenseRef-UNLICENSED' },
    },
    servers: [{ url: publicUrl ?? '/', description: 'The service that answers this document' }],
    security: [],
    tags: [
      ...Object.entries(topics).map(([name, description]) => ({ name, description })),
      { name: 'service', description: 'The process itself' },
    ],
    paths,
    components: { examples: listExamples() },
  };
  const written = createDocument(document, {
    override: ({ jsonSchema }) => {
      openObject(jsonSchema);
      nameInteger(jsonSchema);
    },
  });
  return { jsonSchemaDialect: schemaDialect, ...shortenReferences(written) };
}

type JsonSchema = Parameters<NonNullable<CreateDocumentOptions['override']>>[0]['jsonSchema'];

/** Leaves next to a reference only what explains it. Zod repeats some of the schema that it refers to. */
function shortenReferences<Document extends object>(document: Document): Document {
  const text = JSON.stringify(document, (_key, value) => {
    if (typeof value?.$ref !== 'string') return value;
    const { $ref, description, default: chosen } = value;
    return { $ref, description, default: chosen };
  });
  return JSON.parse(text);
}

/** Opens an object unless the contract closes it. */
function openObject(schema: JsonSchema) {
  if (schema.type === 'object' && schema.isClosed !== true) delete schema.additionalProperties;
  delete schema.isClosed;
}

/** Zod writes constants as numbers. Generators would make floats of them. */
function nameInteger(schema: JsonSchema) {
  const values: unknown[] = schema.enum ?? [schema.const];
  if (values.every(Number.isInteger)) schema.type = 'integer';
}

/** Examples by the names that operations use. */
function listExamples() {
  const named = Object.entries(examples.bodies).map(([id, { answer, unavailable }]) => ({
    [id]: { value: answer },
    ...(unavailable !== undefined && {
      [`${id}Unavailable`]: { summary: 'The data is unknown now', value: unavailable },
    }),
  }));
  return Object.assign({}, ...named);
}

function referToExamples(route: Route) {
  const id = nameBody(route);
  const refer = (name: string) => ({ $ref: `#/components/examples/${name}` });
  return {
    answer: refer(id),
    ...(examples.bodies[id]?.unavailable === undefined ? {} : { unavailable: refer(`${id}Unavailable`) }),
  };
}

function describeOperation(route: Route): ZodOpenApiOperationObject {
  const { perSecond, burst } = rateClasses[route.rateClass];
  const isConditional = route.kind === 'view' && route.isConditional === true;
  const query = typeof route.query === 'string' ? [] : route.query;
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: [
      `Rate class \`${route.rateClass}\`: ${perSecond} requests per second for each IP address, burst ${burst}.`,
      route.query === 'none' ? 'Takes no query parameters; with any the answer is 400 `invalid_query`.' : '',
    ]
      .filter((sentence) => sentence !== '')
      .join(' '),
    tags: [route.topic],
    requestParams: {
      ...(route.pathParameter !== null && {
        path: z.object({ [route.pathParameter.name]: route.pathParameter.schema }),
      }),
      ...(query.length > 0 && {
        query: z.object(
          Object.fromEntries(
            query.map(({ name, schema, description, isRequired }) => [
              name,
              (isRequired ? schema : schema.optional()).meta({ description }),
            ]),
          ),
        ),
      }),
      header: z.object({
        'X-Request-Id': requestId.optional(),
        ...(isConditional && { 'If-None-Match': ifNoneMatch }),
      }),
    },
    responses: {
      '200': {
        description: `${route.summary}. [JSON Schema](${findSchemaPath(nameBody(route))})`,
        headers: z.object({
          ...commonHeaders,
          ...(route.kind === 'view' && route.tag !== undefined && { ETag: etag.optional() }),
          ...describeCacheHeaders(route),
        }),
        content: { 'application/json': { schema: route.response, examples: referToExamples(route) } },
        ...linkNextPage(route),
      },
      ...(isConditional && {
        '304': {
          description: 'The client’s copy is current',
          headers: z.object({ ...commonHeaders, ETag: etag, ...describeCacheHeaders(route) }),
        },
      }),
      ...describeErrors([...commonErrors, ...(route.kind === 'read' ? readErrors : []), ...route.errors]),
    },
  };
}

/** Links a page of a list to the next one, which has the same parameters. */
function linkNextPage({ operationId, pathParameter, query }: Route) {
  const names = typeof query === 'string' ? [] : query.map(({ name }) => name);
  if (!names.includes('cursor')) return {};
  const repeated = names.map((name) => [name, `$request.query.${name}`]);
  const path = pathParameter === null ? [] : [[pathParameter.name, `$request.path.${pathParameter.name}`]];
  return {
    links: {
      nextPage: {
        operationId,
        parameters: Object.fromEntries([...path, ...repeated, ['cursor', '$response.body#/nextCursor']]),
        description: 'The next page, unless `nextCursor` is null or missing',
      },
    },
  };
}

/** Cache headers of both 200 and 304. */
function describeCacheHeaders(route: Route) {
  const header = route.kind === 'view' ? route.header : undefined;
  return {
    ...(route.cacheControl === null
      ? { Expires: expires }
      : { 'Cache-Control': cacheControl.meta({ example: route.cacheControl }) }),
    ...(header !== undefined && {
      [header.name]: z.enum(header.values).meta({ description: header.description }),
    }),
  };
}

const lastEventId = z.string().min(1).max(512).optional();

/** Paths outside the table: the health routes, and the event stream, whose response does not end. */
const otherPaths: ZodOpenApiPathsObject = {
  '/healthz': describeHealth('getHealth', 'Health', 'Whether the process runs', ['It runs', 'alive'], []),
  '/readyz': describeHealth(
    'getReadiness',
    'Readiness',
    'Whether the process can answer',
    ['It is ready', 'ready'],
    ['database_unavailable'],
  ),
  '/v1/events/stream': {
    get: {
      operationId: 'streamEvents',
      summary: 'Events of the feed as server-sent events, as they become visible',
      description:
        'The data of a message is an event of `/v1/events`, its name is the event’s type, and its ID resumes the stream after it. Unless the stream resumes, its first message is not an event: its name is `position` and its data `{}`, and its ID resumes the stream, too. A message named `restarted` says that the last event of a source, named in its data, is gone, and that the newest events of that source follow.',
      tags: ['events'],
      requestParams: {
        query: z.object({
          category: feedCategory.optional().meta({ description: 'Category of the events', default: 'all' }),
          unnamed: z.literal('1').optional().meta({
            description:
              'With `1` events have no name, so that `onmessage` of an `EventSource` receives them; the type is in the data',
          }),
          lastEventId: lastEventId.meta({
            description:
              'As `Last-Event-ID`, for programs that cannot set the header. The header counts if there are both, and the last parameter if there are several',
          }),
        }),
        header: z.object({
          'X-Request-Id': requestId.optional(),
          'Last-Event-ID': lastEventId.meta({
            description: 'The ID of the last received message; browsers send it automatically',
          }),
        }),
      },
      responses: {
        '200': {
          description:
            'The stream; a comment every 15 seconds keeps it open. Until state is restored after a start, there are only comments',
          headers: uncachedHeaders,
          content: { 'text/event-stream': { schema: z.string(), example: examples.eventStream } },
        },
        ...describeErrors([...commonErrors, 'invalid_query', 'invalid_cursor']),
      },
    },
  },
};

function describeHealth(
  operationId: string,
  name: string,
  summary: string,
  [description, status]: readonly [description: string, status: string],
  errors: readonly ErrorCode[],
) {
  const schema = z.strictObject({ status: z.literal(status).describe(description) }).meta({ id: name });
  const answer = {
    description,
    headers: uncachedHeaders,
    content: { 'application/json': { schema, example: { status } } },
  };
  const responses = {
    '200': answer,
    ...describeErrors(['cors_origin_not_allowed', 'rate_limited', ...errors]),
  };
  return { get: { operationId, summary, tags: ['service'], responses } };
}

function describeErrors(codes: readonly ErrorCode[]) {
  const byStatus = new Map<string, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const status = errorStatus[code].status.slice(0, 3);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      status,
      {
        description: ofStatus.map((code) => `\`${code}\`: ${errorStatus[code].meaning}`).join(' '),
        headers: z.object({
          ...commonHeaders,
          Link: help,
          ...((status === '429' || status === '503') && { 'Retry-After': retryAfter }),
        }),
        content: {
          'application/json': {
            schema: errorBody,
            examples: Object.fromEntries(
              ofStatus.map((error) => [error, { summary: errorStatus[error].meaning, value: { error } }]),
            ),
          },
        },
      },
    ]),
  );
}
