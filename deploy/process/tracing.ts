import type { Logger } from 'pino';
import type { DatabaseLocation } from '../../storage/clickhouse/database.ts';
import type { Tracing } from './openTelemetry.ts';
import { isTracingOn, readTracingSettings } from './tracingSettings.ts';

/** Starts tracing if the environment asks for it. Otherwise returns null, and OpenTelemetry is not loaded. */
export async function startTracing(
  environment: Readonly<Record<string, string | undefined>>,
  database: DatabaseLocation,
  logger: Logger,
): Promise<Tracing | null> {
  if (!isTracingOn(environment)) return null;
  const { createTracing } = await import('./openTelemetry.ts');
  return createTracing(readTracingSettings(environment, logger), database, logger);
}
