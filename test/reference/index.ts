import { acceptReadings, type Reading } from './acceptedReadings.ts';
import { measureStatistics } from './activityStatistics.ts';
import { type AvailableCore, findAvailable, hasEconomy, type ReadChain } from './availability.ts';
import { readModules, readSigner } from './device.ts';
import { type Category, listFeed } from './feed.ts';
import { measureObservations, measureTelemetry } from './measuredTelemetry.ts';
import { measureHistory, type Range } from './measureHistory.ts';
import type { OnRejected, StoredMessage } from './messages.ts';
import {
  type EconomyInput,
  isMintingConsistent,
  measureActivity,
  measureMining,
  measurePortfolio,
  readEconomy,
  showAvailable,
} from './mining.ts';
import { measureProcess, measureQueue, measureStatus, type ProcessInput } from './processAndStatus.ts';
import { measureCore, readCore } from './readCore.ts';
import { measureDayRecord, measureList, measureRecord, type RecordInput } from './recordsAndLists.ts';
import { rememberFor } from './remember.ts';
import { type ChainDeployment, followChain, type IndexedChain, readSafeChain } from './safeChain.ts';
import { foldSettlement } from './settlement.ts';

export interface ReferenceDeployment {
  readonly installationId: string;
  /** Unix seconds. */
  readonly genesisTimestamp: number;
  readonly maximumSpeedMmPerSecond?: number | undefined;
  readonly onChain: ChainDeployment | null;
}

/** Messages of the streams, with their deployment. */
interface ReferenceInput {
  readonly deployment: ReferenceDeployment;
  readonly counter: readonly StoredMessage[];
  readonly pipeline: readonly StoredMessage[];
  readonly chain: readonly StoredMessage[];
}

/** A rejected message. */
export interface Rejected {
  /** Its sequence in the stream. */
  readonly position: number;
  readonly reason: string;
}

const unavailable = { status: 'unavailable' };
const notFound = { error: 'not_found' };

/** Computes the quantities of every route from the messages of the streams. Texts, names, links and pages are the schemas' and other tests'. */
export function createReference({ deployment, counter, pipeline, chain }: ReferenceInput) {
  const { installationId, onChain } = deployment;
  const genesisMs = deployment.genesisTimestamp * 1000;
  const rejected = { counter: [] as Rejected[], pipeline: [] as Rejected[] };
  const note =
    (list: Rejected[]): OnRejected =>
    ({ seq: position }, reason) =>
      list.push({ position, reason });
  const maximumSpeedMmPerSecond = deployment.maximumSpeedMmPerSecond ?? Number.POSITIVE_INFINITY;
  const accepted = acceptReadings(counter, note(rejected.counter), { genesisMs, maximumSpeedMmPerSecond });
  const settlement = foldSettlement(pipeline, installationId, genesisMs, note(rejected.pipeline));
  const signer = readSigner(pipeline, installationId, note(rejected.pipeline));
  const modules = readModules(pipeline, installationId, note(rejected.pipeline));
  rejected.pipeline.sort((one, other) => one.position - other.position);
  const readChain = onChain === null ? null : readStates(followChain(chain, onChain), onChain);
  const selectOf = rememberFor((list: readonly Reading[], id) =>
    list.filter((reading) => reading.installationId === id),
  );
  const readingsOf = (id: string) => selectOf(accepted, id);
  const readings = readingsOf(installationId);

  function withEconomy(nowMs: number, measure: (input: EconomyInput) => object | null): object {
    const found = findAvailable(readChain, nowMs);
    return hasEconomy(found) ? (measure({ ...found, nowMs }) ?? notFound) : unavailable;
  }

  /** The core, unless it may be too old to be shown. */
  function findCore(nowMs: number): AvailableCore | null {
    const found = findAvailable(readChain, nowMs);
    return found?.isLate === false ? found : null;
  }

  /** CONTRACT.md, Settlement source: the last safe state is shown also while the indexer is unavailable. */
  function settlements(query: URLSearchParams, nowMs: number) {
    const found = findAvailable(readChain, nowMs);
    const history =
      found === null
        ? unavailable
        : measureHistory({ ...found, nowMs }, (query.get('range') ?? 'now') as Range);
    return { ...history, settlementQueue: measureQueue(readProcess(nowMs)) };
  }

  const feed = (category: Category, nowMs: number) =>
    withEconomy(nowMs, (input) =>
      category === 'measurement' && readings.length === 0
        ? unavailable
        : { ...showAvailable(input), events: listFeed(input.safe, readings, category) },
    );

  const readProcess = (nowMs: number): ProcessInput => ({
    genesisMs,
    readings,
    settlement,
    core: findCore(nowMs)?.core ?? null,
    signer,
    modules,
    nowMs,
  });

  function statistics(query: URLSearchParams, nowMs: number) {
    const core = findCore(nowMs)?.core;
    const settled =
      core === undefined
        ? null
        : {
            blockCount: core.cumulativeBlockUnits / 1_000_000_000n,
            settlementCount: core.batches.length,
            work: core.cumulativeWork,
          };
    const input = { readings, genesisMs, settled, submissions: settlement.submissions };
    return measureStatistics(input, query.get('range') === '30d' ? 30 : 7, nowMs);
  }

  /** A record, or a list of them. */
  function records(kind: string, id: string | undefined, query: URLSearchParams, nowMs: number) {
    const withRecords = (measure: (input: RecordInput) => object | null) =>
      withEconomy(nowMs, (input) => measure({ ...input, readings, settlement }));
    if (kind === 'days') {
      const isReadable = hasEconomy(findAvailable(readChain, nowMs));
      return measureDayRecord({ readings, genesisMs, isReadable }, id as string, toWindowEnd(nowMs));
    }
    if (id !== undefined) return withRecords((input) => measureRecord(input, kind, decodeURIComponent(id)));
    const readTime = (name: string, otherwise: number) =>
      query.has(name) ? Date.parse(query.get(name) as string) : otherwise;
    const [fromMs, toMs] = [readTime('from', 0), readTime('to', Number.POSITIVE_INFINITY)];
    return withRecords((input) => measureList(input, kind, (timeMs) => timeMs >= fromMs && timeMs < toMs));
  }

  /** What an answer to a request at a time has to say; a list with the items of all its pages. */
  function measure(request: string, nowMs: number): object {
    const { pathname, searchParams: query } = new URL(request, 'http://reference');
    const [, first = ''] =
      /^\/v1\/(?:public\/installations|owners|miners)\/([^/]+)\/\w+$/.exec(pathname) ?? [];
    const owner = (first === '' ? (query.get('owner') ?? '') : first).toLowerCase();
    switch (pathname.replace(`/${first}/`, first === '' ? '//' : '/{}/')) {
      case '/v1/public/telemetry':
        return measureTelemetry(readings, nowMs);
      case '/v1/public/installations/{}/telemetry':
        return measureTelemetry(readingsOf(first), nowMs);
      case '/v1/public/installations/{}/observations':
        return measureObservations(readingsOf(first), query.get('cursor'));
      case '/v1/public/modules':
        return { modules };
      case '/v4/public/process':
        return measureProcess(readProcess(nowMs));
      case '/v1/status':
        return measureStatus(readProcess(nowMs));
      case '/v2/public/stats':
      case '/v1/measurement/stats':
        return statistics(query, nowMs);
      case '/v1/core': {
        const found = findCore(nowMs);
        return (found && measureCore(found.safe, found.core)) ?? unavailable;
      }
      case '/v4/public/settlements':
      case '/v1/settlements':
        return settlements(query, nowMs);
      case '/v2/public/miners/state':
        return withEconomy(nowMs, (input) =>
          isMintingConsistent(input.economy) ? measureMining(input) : unavailable,
        );
      case '/v1/mining/state':
        return withEconomy(nowMs, measureMining);
      case '/v2/public/miners/portfolio':
      case '/v1/owners/{}/miners':
        return withEconomy(nowMs, (input) => measurePortfolio(input, owner));
      case '/v2/public/miners/activity':
      case '/v1/owners/{}/activity':
        return withEconomy(nowMs, (input) => measureActivity(input, owner));
      case '/v2/public/events':
      case '/v1/events':
        return feed((query.get('category') ?? 'all') as Category, nowMs);
    }
    if (/^\/v1\/search$|\/metadata(?:\/|$)/.test(pathname)) return {};
    const [, kind, id] = /^\/v1\/([a-z]+)(?:\/([^/]+))?$/.exec(pathname) ?? [];
    if (kind === undefined) throw new Error(`the reference has no route ${pathname}`);
    return records(kind, id, query, nowMs);
  }

  return { measure, accepted, rejected, chain: readChain };
}

/** The contracts' state at the safe block. */
function readStates(indexed: IndexedChain, deployment: ChainDeployment): ReadChain {
  const safe = readSafeChain(indexed, deployment);
  if (safe === null) return { indexed, safe, core: null, economy: null };
  return { indexed, safe, core: readCore(safe), economy: readEconomy(safe) };
}

/** Statistics are computed at multiples of 30 seconds. */
const toWindowEnd = (nowMs: number) => Math.floor(nowMs / 30_000) * 30_000;
