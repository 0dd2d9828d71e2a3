import { findCondition, findReason, type ReadChain, type Reason } from './availability.ts';
import {
  type ChainDeployment,
  followChain,
  type IndexedChain,
  readSafeChain,
  type SafeChain,
} from './chain.ts';
import { buildCore, type CoreState, readCore } from './core.ts';
import { readModules, readSigner } from './device.ts';
import { buildFeed, type Category } from './feed.ts';
import { dayMs, type OnRejected, type StoredMessage } from './messages.ts';
import { readMetadata, selectImages } from './metadata.ts';
import {
  buildActivity,
  buildMinerState,
  buildMiningState,
  buildPortfolio,
  type EconomyInput,
  isMintingConsistent,
  type OwnerPage,
  readEconomy,
  showAvailable,
} from './mining.ts';
import { buildObservations, buildTelemetry } from './observations.ts';
import { buildProcess, buildPublicQueue, buildStatus, type ProcessInput } from './process.ts';
import { acceptReadings, type Reading } from './readings.ts';
import { buildDayRecord, buildList, buildRecord, isCreated, type RecordInput } from './records.ts';
import { rememberFor } from './remember.ts';
import { buildSearch } from './search.ts';
import { foldSettlement } from './settlement.ts';
import { buildHistory, type Range } from './settlementHistory.ts';
import { buildStatistics } from './statistics.ts';

export interface ReferenceDeployment {
  readonly installationId: string;
  /** Unix seconds. */
  readonly genesisTimestamp: number;
  readonly onChain: ChainDeployment | null;
}

/** Messages of the streams, with their deployment. */
interface ReferenceInput {
  readonly deployment: ReferenceDeployment;
  readonly counter: readonly StoredMessage[];
  readonly pipeline: readonly StoredMessage[];
  readonly chain: readonly StoredMessage[];
}

/** Decoded cursor of a request. */
export interface Place {
  /** The last item of the page before: a token ID, or the ID of an event. */
  readonly behind: string;
  /** The block of an owner's first page. */
  readonly atBlock?: bigint;
}

/** A rejected message. */
export interface Rejected {
  /** Its sequence in the stream. */
  readonly position: number;
  readonly reason: string;
}

/** Computes every body from the messages of the streams. */
export function createReference({ deployment, counter, pipeline, chain }: ReferenceInput) {
  const { installationId, onChain } = deployment;
  const genesisMs = deployment.genesisTimestamp * 1000;
  const rejected = { counter: [] as Rejected[], pipeline: [] as Rejected[] };
  const note =
    (list: Rejected[]): OnRejected =>
    ({ seq: position }, reason) =>
      list.push({ position, reason });
  const accepted = acceptReadings(counter, note(rejected.counter));
  const settlement = foldSettlement(pipeline, installationId, genesisMs, note(rejected.pipeline));
  const signer = readSigner(pipeline, installationId, note(rejected.pipeline));
  const modules = readModules(pipeline, installationId, note(rejected.pipeline));
  rejected.pipeline.sort((one, other) => one.position - other.position);
  const readChain = onChain === null ? null : readStates(followChain(chain, onChain), onChain, null);
  const selectOf = rememberFor((list: readonly Reading[], id) =>
    list.filter((reading) => reading.installationId === id),
  );
  const readingsOf = (id: string) => selectOf(accepted, id);

  /** The safe chain with its core, or why it is unavailable. */
  function readAvailable(
    part: 'core' | 'economy',
    nowMs: number,
  ): { safe: SafeChain; core: CoreState } | Reason {
    const reason = findReason(part, readChain, nowMs);
    // Without a reason, both exist.
    return reason ?? (readChain as { safe: SafeChain; core: CoreState });
  }

  const unavailable = (schemaVersion: number, reason: Reason | 'source_disabled') => ({
    schemaVersion,
    installationId,
    status: 'unavailable',
    reason,
  });
  const release = onChain === null ? null : { ...onChain.release };

  /** Body of the economy at the safe block or an earlier block. */
  function withEconomy(
    schemaVersion: number,
    nowMs: number,
    build: (input: EconomyInput) => object | Reason | null,
    atBlock?: bigint,
  ): object {
    const available = readAvailable('economy', nowMs);
    if (typeof available === 'string') return { ...unavailable(schemaVersion, available), release };
    const read = readChain as ReadChain;
    const isNewest = atBlock === undefined || atBlock === available.safe.block.number;
    const at = isNewest ? read : readStates(read.indexed, available.safe.deployment, atBlock);
    // The contracts are configured at every block of a page.
    const body = build({ ...at, installationId, nowMs } as unknown as EconomyInput);
    if (body === null) return { error: 'not_found' };
    return typeof body === 'string'
      ? { ...unavailable(schemaVersion, body), release }
      : { ...body, schemaVersion };
  }

  /** CONTRACT.md, Settlement source: the last safe state is shown also while the indexer is unavailable. */
  function settlements({ searchParams }: URL, schemaVersion: number, nowMs: number): object {
    const condition = findCondition('core', readChain, nowMs);
    const range = (searchParams.get('range') ?? 'now') as Range;
    const isShown = condition === null || (condition === 'indexer_unavailable' && readChain?.core != null);
    const queue = searchParams.has('queue') ? { settlementQueue: buildPublicQueue(readProcess(nowMs)) } : {};
    if (!isShown) {
      const reason = findReason('core', readChain, nowMs) as Reason;
      return { ...unavailable(schemaVersion, reason), ...queue };
    }
    const { safe, core } = readChain as { safe: SafeChain; core: CoreState };
    const isDeployed = safe.block.number >= safe.deployment.chain.economyDeploymentBlock;
    const economy = isDeployed ? (readChain?.economy ?? 'not_configured') : 'not_yet_safe';
    return {
      ...buildHistory({ installationId, safe, core, economy, nowMs }, range),
      schemaVersion,
      ...queue,
    };
  }

  function metadata(tokenId: string, schemaVersion: number, isReleaseNamed: boolean, nowMs: number) {
    return withEconomy(schemaVersion, nowMs, (input) => {
      const found = input.economy.positions.has(BigInt(tokenId))
        ? readMetadata(input.safe, BigInt(tokenId))
        : null;
      if (found === null) return 'not_yet_safe';
      const { collection } = input.safe.deployment.contracts;
      return { ...showAvailable(input), tokenId, collection, ...selectImages(found, isReleaseNamed) };
    });
  }

  function feed({ searchParams }: URL, nowMs: number, place: Place | null): object {
    const readings = readingsOf(installationId);
    const category = (searchParams.get('category') ?? 'all') as Category;
    const reason = findReason('economy', readChain, nowMs);
    if (reason !== null) return unavailable(1, reason);
    if (category === 'measurement' && readings.length === 0) return unavailable(1, 'source_disabled');
    const page = { category, limit: readLimit(searchParams, 40), behind: place?.behind ?? null };
    return withEconomy(1, nowMs, (input) => buildFeed(input, readings, page));
  }

  function readProcess(nowMs: number): ProcessInput {
    const available = readAvailable('core', nowMs);
    return {
      installationId,
      genesisMs,
      readings: readingsOf(installationId),
      settlement,
      core: typeof available === 'string' ? null : available.core,
      signer,
      modules,
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
    const readings = readingsOf(installationId);
    const input = { installationId, readings, genesisMs, settled, submissions: settlement.submissions };
    return buildStatistics(input, searchParams.get('range') === '30d' ? '30d' : '7d', nowMs);
  }

  /** A record, or a page of a list of them; null for another path. */
  function records({ pathname, searchParams }: URL, nowMs: number, place: Place | null): object | null {
    const [, kind = '', id] = /^\/v1\/([a-z-]+)(?:\/([^/]+))?$/.exec(pathname) ?? [];
    const readings = readingsOf(installationId);
    const withRecords = (build: (input: RecordInput) => object | null) =>
      withEconomy(1, nowMs, (input) => build({ ...input, readings, settlement }));
    if (kind === 'search') return search(searchParams.get('q') ?? '', nowMs);
    if (kind === 'days' && id !== undefined) {
      const isReadable = findReason('economy', readChain, nowMs) === null;
      return buildDayRecord({ installationId, readings, genesisMs, isReadable }, id, toWindowEnd(nowMs));
    }
    if (id !== undefined)
      return /^(?:events|transactions|rounds|miners)$/.test(kind)
        ? withRecords((input) => buildRecord(input, kind, decodeURIComponent(id)))
        : null;
    if (!/^(?:batches|checkpoints|rounds|miners|owners)$/.test(kind)) return null;
    const readTime = (name: string, otherwise: number) =>
      searchParams.has(name) ? Date.parse(searchParams.get(name) as string) : otherwise;
    const page = {
      limit: readLimit(searchParams, 40),
      behind: place?.behind ?? null,
      fromMs: readTime('from', Number.NEGATIVE_INFINITY),
      toMs: readTime('to', Number.POSITIVE_INFINITY),
    };
    return withRecords((input) => buildList(input, kind, page));
  }

  function search(query: string, nowMs: number) {
    const [chain, economy] = [readAvailable('core', nowMs), readAvailable('economy', nowMs)];
    const first = readingsOf(installationId)[0]?.observedAtMs ?? nowMs;
    const isChainKnown = typeof chain !== 'string';
    return buildSearch(query, {
      installationId,
      core: isChainKnown ? chain.core : null,
      mayBeMiner: (tokenId) => typeof economy === 'string' || isCreated(economy, tokenId),
      sinceMs: Math.min(nowMs - 29 * dayMs, first, isChainKnown ? genesisMs : first),
      nowMs,
    });
  }

  /** Body of a request at a time. The place is the request's decoded cursor. */
  function body(request: string, nowMs: number, place: Place | null = null): object {
    const url = new URL(request, 'http://reference');
    const { pathname, searchParams } = url;
    const [, first = '', second = ''] =
      /^\/v1\/(?:public\/installations|owners|miners)\/([^/]+)\/(\w+)$/.exec(pathname) ?? [];
    const ofOwner = (owner: string): OwnerPage => ({
      owner: owner.toLowerCase(),
      limit: readLimit(searchParams, 25),
      behind: place?.behind ?? null,
    });
    const owners = (list: 'miners' | 'activity', schemaVersion: number, owner: string) => {
      const build = list === 'miners' ? buildPortfolio : buildActivity;
      return withEconomy(schemaVersion, nowMs, (input) => build(input, ofOwner(owner)), place?.atBlock);
    };
    const ownerOfQuery = searchParams.get('owner') ?? '';
    switch (pathname.replace(`/${first}/`, first === '' ? '//' : '/{}/')) {
      case '/v1/public/telemetry':
        return buildTelemetry(installationId, readingsOf(installationId), nowMs);
      case '/v1/public/installations/{}/telemetry':
        return buildTelemetry(first, readingsOf(first), nowMs);
      case '/v1/public/installations/{}/observations':
        return buildObservations(first, readingsOf(first), searchParams);
      case '/v1/public/modules':
        return { schemaVersion: 1, installationId, modules };
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
      case '/v4/public/settlements':
        return settlements(url, 4, nowMs);
      case '/v1/settlements':
        return settlements(url, 1, nowMs);
      case '/v2/public/miners/state':
        return withEconomy(2, nowMs, (input) =>
          isMintingConsistent(input.economy) ? buildMinerState(input) : 'indexer_unavailable',
        );
      case '/v1/mining/state':
        return withEconomy(1, nowMs, buildMiningState);
      case '/v2/public/miners/portfolio':
        return owners('miners', 2, ownerOfQuery);
      case '/v2/public/miners/activity':
        return owners('activity', 2, ownerOfQuery);
      case '/v1/owners/{}/miners':
      case '/v1/owners/{}/activity':
        return owners(second as 'miners', 1, first);
      case '/v1/miners/{}/metadata':
        return metadata(first, 1, false, nowMs);
      case '/v2/public/events':
      case '/v1/events':
        return feed(url, nowMs, place);
    }
    const record = records(url, nowMs, place);
    if (record !== null) return record;
    const [, tokenId] = /^\/v2\/public\/miners\/metadata\/(\d+)$/.exec(pathname) ?? [];
    if (tokenId === undefined) throw new Error(`the reference has no route ${pathname}`);
    return metadata(tokenId, 2, searchParams.has('release'), nowMs);
  }

  return { body, accepted, rejected, chain: readChain };
}

/** The contracts' state at the safe block, or at an earlier block. */
function readStates(indexed: IndexedChain, deployment: ChainDeployment, atBlock: bigint | null): ReadChain {
  const safe = readSafeChain(indexed, deployment, atBlock);
  if (safe === null) return { indexed, safe, core: null, economy: null };
  return { indexed, safe, core: readCore(safe), economy: readEconomy(safe) };
}

/** Statistics are computed at multiples of 30 seconds. */
const toWindowEnd = (nowMs: number) => Math.floor(nowMs / 30_000) * 30_000;
const readLimit = (query: URLSearchParams, otherwise: number) => Number(query.get('limit') ?? otherwise);
