import { type ChainEvent, listEvents, type SafeChain, showChain } from './safeChain.ts';
import { type CoreConfiguration, type CoreSums, measureBlocks } from './workToBlocks.ts';

/** CONTRACT.md, Core state. */

/** A batch that was settled. */
interface Batch {
  readonly previousSettledThroughRound: bigint;
  readonly settledThroughRound: bigint;
  readonly activeRoundCount: bigint;
  readonly workAdded: bigint;
  readonly cumulativeWork: bigint;
  readonly cumulativeBlockUnits: bigint;
  readonly workPerThousandBlocks: bigint;
  readonly nonce: bigint;
}

interface Configured extends CoreConfiguration {
  readonly genesisTimestamp: bigint;
  readonly roundDuration: bigint;
  readonly initialWorkPerThousandBlocks: bigint;
  readonly blockUnitsPerBlock: bigint;
}

export interface CoreState extends CoreSums {
  readonly configuration: Configured;
  readonly settledThroughRound: bigint;
  readonly authorizationNonce: bigint;
  readonly paused: boolean;
  /** Version of the implementation's code; 0 before the first. */
  readonly version: bigint;
  readonly batches: readonly (ChainEvent & { readonly args: Batch })[];
}

/** Null before the core is configured. */
export function readCore(safe: SafeChain): CoreState | null {
  const configured = listEvents<Configured>(safe, 'core', 'CoreConfigured').at(-1)?.args;
  if (configured === undefined) return null;
  const batches = listEvents<Batch>(safe, 'core', 'BatchSettled');
  const last = batches.at(-1)?.args;
  return {
    configuration: configured,
    cumulativeWork: last?.cumulativeWork ?? 0n,
    cumulativeBlockUnits: last?.cumulativeBlockUnits ?? 0n,
    workPerThousandBlocks: last?.workPerThousandBlocks ?? configured.initialWorkPerThousandBlocks,
    settledThroughRound: last?.settledThroughRound ?? 0n,
    authorizationNonce: last === undefined ? 0n : last.nonce + 1n,
    paused: isPaused(safe, 'core'),
    version: readVersion(safe, 'core'),
    batches,
  };
}

export function isPaused({ events }: SafeChain, contract: 'core' | 'collection'): boolean {
  const last = events.findLast((one) => one.contract === contract && /^(?:Paused|Unpaused)$/.test(one.name));
  return last?.name === 'Paused';
}

export const readVersion = (safe: SafeChain, contract: 'core' | 'mining') =>
  listEvents<{ version: bigint }>(safe, contract, 'VersionActivated').at(-1)?.args.version ?? 0n;

/** Null while no proposer of the timelock is known. */
export function measureCore(safe: SafeChain, state: CoreState) {
  const isGoverned =
    safe.proposers.length > 0 || listEvents(safe, 'operatorTimelock', 'RoleGranted').length > 0;
  if (!isGoverned) return null;
  const { configuration, version, batches: _, ...sums } = state;
  return {
    status: 'available',
    chain: showChain(safe),
    configuration,
    core: { ...sums, ...measureBlocks(sums) },
    implementation: { codeVersion: version },
  };
}
