import { findReason, type ReadChain, type Reason } from './availability.ts';
import { type ChainDeployment, followChain, readSafeChain, type SafeChain } from './chain.ts';
import { buildCore, type CoreState, readCore } from './core.ts';
import { readModules, readSigner } from './device.ts';
import type { StoredMessage } from './messages.ts';
import { buildObservations, buildTelemetry } from './observations.ts';
import { buildProcess, buildStatus, type ProcessInput } from './process.ts';
import { acceptReadings } from './readings.ts';
import { foldSettlement } from './settlement.ts';
import { buildStatistics } from './statistics.ts';

export interface ReferenceDeployment {
  readonly installationId: string;
  /** Unix seconds. */
  readonly genesisTimestamp: number;
  readonly onChain: ChainDeployment | null;
}

/** What the streams hold, and of which deployment they are. */
export interface ReferenceInput {
  readonly deployment: ReferenceDeployment;
  readonly counter: readonly StoredMessage[];
  readonly pipeline: readonly StoredMessage[];
  readonly chain: readonly StoredMessage[];
}

/** What the cursor of a request means. */
export interface Place {
  /** The last item of the page before: a token ID, or the ID of an event. */
  readonly behind: string;
  /** The block of an owner's first page. */
  readonly atBlock?: bigint;
}

/** Computes every body from the messages of the streams. */
export function createReference({ deployment, counter, pipeline, chain }: ReferenceInput) {
  const { installationId, onChain } = deployment;
  const genesisMs = deployment.genesisTimestamp * 1000;
  const accepted = acceptReadings(counter);
  const settlement = foldSettlement(pipeline, installationId);
  const readChain = onChain === null ? null : readChainThrough(onChain, chain);
  const readingsOf = (id: string) => accepted.filter((reading) => reading.installationId === id);

  /** The safe chain and its core, or why there is none. */
  function readAvailable(
    part: 'core' | 'economy',
    nowMs: number,
  ): { safe: SafeChain; core: CoreState } | Reason {
    const reason = findReason(part, readChain, nowMs);
    // Without a reason there are both.
    return reason ?? (readChain as { safe: SafeChain; core: CoreState });
  }

  const unavailable = (schemaVersion: number, reason: Reason) => ({
    schemaVersion,
    installationId,
    status: 'unavailable',
    reason,
  });

  function readProcess(nowMs: number): ProcessInput {
    const available = readAvailable('core', nowMs);
    return {
      installationId,
      genesisMs,
      readings: readingsOf(installationId),
      settlement,
      core: typeof available === 'string' ? null : available.core,
      signer: readSigner(pipeline, installationId),
      modules: readModules(pipeline, installationId),
      nowMs,
    };
  }

  function statistics({ searchParams }: URL, nowMs: number) {
    const available = readAvailable('core', nowMs);
    const settled =
      typeof available === 'string'
        ? null
        : {
            blockCount: available.core.cumulativeBlockUnits / 1_000_000_000n,
            settlementCount: available.core.batches.length,
            work: available.core.cumulativeWork,
          };
    const range = searchParams.get('range') === '30d' ? '30d' : '7d';
    const readings = readingsOf(installationId);
    return buildStatistics(
      { installationId, readings, genesisMs, settled, submissions: settlement.submissions },
      range,
      nowMs,
    );
  }

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
      case '/v4/public/process':
        return buildProcess(readProcess(nowMs));
      case '/v1/status':
        return buildStatus(readProcess(nowMs));
      case '/v2/public/stats':
        return { ...statistics(url, nowMs), schemaVersion: 2 };
      case '/v1/measurement/stats':
        return statistics(url, nowMs);
      case '/v1/core': {
        const available = readAvailable('core', nowMs);
        if (typeof available === 'string') return unavailable(1, available);
        return (
          buildCore(available.safe, available.core, installationId) ?? unavailable(1, 'indexer_unavailable')
        );
      }
    }
    throw new Error(`the reference has no route ${url.pathname}`);
  }

  return { body };
}

function readChainThrough(deployment: ChainDeployment, messages: readonly StoredMessage[]): ReadChain {
  const indexed = followChain(messages, deployment);
  const safe = readSafeChain(indexed, deployment);
  return { indexed, safe, core: safe === null ? null : readCore(safe) };
}
