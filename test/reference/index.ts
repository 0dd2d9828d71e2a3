import { readModules } from './device.ts';
import type { StoredMessage } from './messages.ts';
import { buildObservations, buildTelemetry } from './observations.ts';
import { acceptReadings } from './readings.ts';
import { buildStatistics } from './statistics.ts';

export interface ReferenceDeployment {
  readonly installationId: string;
  /** Unix seconds. */
  readonly genesisTimestamp: number;
}

/** What the streams hold, and of which deployment they are. */
export interface ReferenceInput {
  readonly deployment: ReferenceDeployment;
  readonly counter: readonly StoredMessage[];
  readonly pipeline: readonly StoredMessage[];
  readonly chain: readonly StoredMessage[];
}

/** What the cursor of a request means: the first item behind which the page begins. */
export interface Place {
  readonly behind: string;
}

/** Computes every body again from the messages of the streams. */
export function createReference({ deployment, counter, pipeline }: ReferenceInput) {
  const { installationId } = deployment;
  const genesisMs = deployment.genesisTimestamp * 1000;
  const accepted = acceptReadings(counter);
  const readingsOf = (id: string) => accepted.filter((reading) => reading.installationId === id);

  /** The body of a request that is answered 200, at a time. */
  function body(request: string, nowMs: number, _place?: Place): object {
    const url = new URL(request, 'http://reference');
    const [, id = '', list] = /^\/v1\/public\/installations\/([^/]+)\/(\w+)$/.exec(url.pathname) ?? [];
    if (list === 'telemetry') return buildTelemetry(id, readingsOf(id), nowMs);
    if (list === 'observations') return buildObservations(id, readingsOf(id), url.searchParams);
    switch (url.pathname) {
      case '/v1/public/telemetry':
        return buildTelemetry(installationId, readingsOf(installationId), nowMs);
      case '/v1/public/modules':
        return { schemaVersion: 1, installationId, modules: readModules(pipeline, installationId) };
      case '/v2/public/stats':
        return { ...statistics(url, nowMs), schemaVersion: 2 };
      case '/v1/measurement/stats':
        return statistics(url, nowMs);
    }
    throw new Error(`the reference has no route ${url.pathname}`);
  }

  function statistics({ searchParams }: URL, nowMs: number) {
    const readings = readingsOf(installationId);
    const range = searchParams.get('range') === '30d' ? '30d' : '7d';
    return buildStatistics(
      { installationId, readings, genesisMs, settled: null, submissions: [] },
      range,
      nowMs,
    );
  }

  return { body };
}
