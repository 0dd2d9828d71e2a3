import { z } from 'zod';
import {
  decodeObservationCursor,
  observationsResponse,
  toObservationsBody,
} from '../responses/observations.ts';
import { modulesResponse, toModulesBody } from '../responses/process/modules.ts';
import { processResponse, toProcessBody } from '../responses/process/process.ts';
import { computeStatusTag, statusResponse, toStatusBody } from '../responses/process/status.ts';
import { cursor, installationId, pageMax } from '../responses/scalars.ts';
import { telemetryResponse, toTelemetryBody } from '../responses/telemetry.ts';
import { revalidated } from './cacheControl.ts';
import { chainRoutes } from './chainRoutes.ts';
import { eventRoutes } from './eventRoutes.ts';
import { minerRoutes } from './minerRoutes.ts';
import { recordRoutes } from './recordRoutes.ts';
import { defineRoute, type PathParameter, type Route } from './route.ts';
import { searchRoutes } from './searchRoutes.ts';
import { statisticsRoutes } from './statisticsRoutes.ts';

const installationPath: PathParameter = {
  name: 'installationId',
  schema: installationId,
  parse: (segment) => installationId.safeParse(segment).data ?? null,
  error: 'invalid_installation_id',
};

const telemetryMembers = {
  topic: 'wheel',
  rateClass: 'publicFast',
  query: 'ignored',
  response: telemetryResponse,
  body: toTelemetryBody,
  tag: ({ revision }: z.infer<typeof telemetryResponse>) => revision,
} as const;

const publicTelemetry = defineRoute({
  ...telemetryMembers,
  path: '/v1/public/telemetry',
  operationId: 'getTelemetry',
  summary: 'Newest accepted measurement of the public installation',
  view: (views) => views.telemetry(views.publicInstallationId),
  receivedAtMs: ({ reading }) => reading?.receivedAtMs ?? null,
});

const installationTelemetry = defineRoute({
  ...telemetryMembers,
  path: '/v1/public/installations/{installationId}/telemetry',
  operationId: 'getInstallationTelemetry',
  summary: 'Newest accepted measurement of an installation',
  pathParameter: installationPath,
  errors: ['invalid_installation_id'],
  view: (views, id) => views.telemetry(id),
});

const modules = defineRoute({
  path: '/v1/public/modules',
  operationId: 'getModules',
  summary: 'Module snapshots of the public installation',
  topic: 'wheel',
  rateClass: 'publicFast',
  query: 'ignored',
  response: modulesResponse,
  view: (views) => views.modules(),
  body: toModulesBody,
});

const observations = defineRoute({
  path: '/v1/public/installations/{installationId}/observations',
  operationId: 'getObservations',
  summary: 'Pages of all accepted readings of an installation, oldest first',
  topic: 'wheel',
  rateClass: 'publicHeavy',
  pathParameter: installationPath,
  query: [
    {
      name: 'cursor',
      description: 'Returns only readings after the cursor; omit for the first page',
      schema: cursor,
    },
    {
      name: 'limit',
      description: `Page size: an integer, clamped to 1-${pageMax}. Any other value means ${pageMax}; none is rejected`,
      schema: z.string().meta({ example: String(pageMax), default: String(pageMax) }),
    },
  ],
  isQueryLenient: true,
  errors: ['invalid_installation_id', 'invalid_cursor'],
  response: observationsResponse,
  read: ({ observations: reader }, { pathValue: id, parameters, signal }) => {
    const requested = parameters.get('cursor');
    const afterPosition = requested === undefined ? 0 : decodeObservationCursor(requested);
    if (afterPosition === null) return { error: 'invalid_cursor' };
    const page = reader.page(id, afterPosition, parseObservationsLimit(parameters.get('limit')), signal);
    return page instanceof Promise
      ? page.then((loaded) => ({ body: toObservationsBody(id, loaded) }))
      : { body: toObservationsBody(id, page) };
  },
});

/** Converts the value to a number, then clamps it (CONTRACT.md, Observations): `0` and the empty string give 1, 101 gives 100. */
function parseObservationsLimit(requested: string | undefined): number {
  const limit = requested === undefined ? pageMax : Number(requested);
  if (!Number.isInteger(limit)) return pageMax;
  return Math.min(Math.max(limit, 1), pageMax);
}

const processSnapshot = defineRoute({
  path: '/v4/public/process',
  operationId: 'getProcess',
  summary: 'Process snapshot: measured, projected, queued',
  topic: 'settlement',
  rateClass: 'publicFast',
  query: 'none',
  cacheControl: revalidated,
  errors: ['invalid_query'],
  response: processResponse,
  view: (views) => views.process(),
  body: toProcessBody,
  tag: ({ revision }) => revision,
  receivedAtMs: ({ measurement }) => measurement?.reading.receivedAtMs ?? null,
  isConditional: true,
});

const status = defineRoute({
  path: '/v1/status',
  operationId: 'getStatus',
  summary: 'Pipeline status, with signer and modules',
  topic: 'settlement',
  rateClass: 'publicFast',
  query: 'none',
  cacheControl: revalidated,
  errors: ['invalid_query'],
  response: statusResponse,
  view: (views) => views.process(),
  body: toStatusBody,
  tag: computeStatusTag,
  isConditional: true,
});

/** Every route with a contract. The router, checks, caching, limits, OpenAPI and tests all use this table. */
export const routes: readonly Route[] = [
  publicTelemetry,
  installationTelemetry,
  modules,
  observations,
  processSnapshot,
  status,
  ...statisticsRoutes,
  ...chainRoutes,
  ...eventRoutes,
  ...recordRoutes,
  ...minerRoutes,
  ...searchRoutes,
];
