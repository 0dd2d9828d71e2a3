import { decodeFunctionData, keccak256, parseAbi, toHex } from 'viem';
import type { CoreResponse } from '../../http/responses/chain/core.ts';
import { type ChainEvent, listEvents, type SafeChain, showChainBriefly, showPlace } from './chain.ts';
import { blockUnitsPerBlock, type CoreConfiguration, type CoreSums } from './workToBlocks.ts';

/** CONTRACT.md, Core state. */

type Available = Extract<CoreResponse, { status: 'available' }>;

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
  readonly streamId: string;
  readonly genesisTimestamp: bigint;
  readonly roundDuration: bigint;
  readonly initialWorkPerThousandBlocks: bigint;
  readonly blockUnitsPerBlock: bigint;
  readonly guardian: string;
  readonly reporter: string;
}

export interface CoreState extends CoreSums {
  readonly configuration: Configured;
  readonly settledThroughRound: bigint;
  readonly authorizationNonce: bigint;
  readonly paused: boolean;
  readonly version: Version | null;
  readonly batches: readonly (ChainEvent & { readonly args: Batch })[];
}

export interface Version {
  readonly version: bigint;
  readonly storageLayoutDigest: string;
  readonly implementation: string;
  readonly runtimeHash: string;
}

/** Null before the core is configured. */
export function readCore(safe: SafeChain): CoreState | null {
  const configured = listEvents<Configured>(safe, 'core', 'CoreConfigured').at(-1)?.args;
  if (configured === undefined) return null;
  const guardian = listEvents<{ guardian: string }>(safe, 'core', 'GuardianChanged').at(-1)?.args.guardian;
  const reporter = listEvents<{ reporter: string }>(safe, 'core', 'ReporterChanged').at(-1)?.args.reporter;
  const batches = listEvents<Batch>(safe, 'core', 'BatchSettled');
  const last = batches.at(-1)?.args;
  return {
    configuration: {
      ...configured,
      guardian: guardian ?? configured.guardian,
      reporter: reporter ?? configured.reporter,
    },
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

export function readVersion(safe: SafeChain, contract: 'core' | 'mining'): Version | null {
  return listEvents<Version>(safe, contract, 'VersionActivated').at(-1)?.args ?? null;
}

const governed = ['core', 'proxyAdmin', 'operatorTimelock'] as const;

/** Core state; null while the owner of the proxy's admin, the admin's slot or the timelock's proposer is unknown. */
export function buildCore(safe: SafeChain, state: CoreState, installationId: string): Available | null {
  const { contracts } = safe.deployment;
  const { configuration: of, version } = state;
  const owner = listEvents<{ newOwner: string }>(safe, 'proxyAdmin', 'OwnershipTransferred').at(-1)?.args
    .newOwner;
  const slot = listEvents<{ newAdmin: string }>(safe, 'core', 'AdminChanged').at(-1)?.args.newAdmin;
  const proposer = findProposer(safe);
  const ofCore = safe.events.findLast(({ contract }) => contract === 'core');
  if (
    owner === undefined ||
    slot === undefined ||
    proposer === null ||
    version === null ||
    ofCore === undefined
  )
    return null;
  const ofGoverned = safe.events.filter(({ contract }) => (governed as readonly string[]).includes(contract));
  return {
    schemaVersion: 1,
    installationId,
    status: 'available',
    chain: showChainBriefly(safe),
    identities: {
      core: contracts.core,
      proxyAdmin: contracts.proxyAdmin,
      proxyAdminOwner: owner,
      operatorTimelock: contracts.operatorTimelock,
      operatorProposer: proposer,
      proxyImplementation: version.implementation,
      proxyAdminSlot: slot,
    },
    configuration: {
      streamId: of.streamId,
      genesisTimestamp: String(of.genesisTimestamp),
      roundDuration: String(of.roundDuration),
      maxWorkPerRound: String(of.maxWorkPerRound),
      maxRoundsPerBatch: String(of.maxRoundsPerBatch),
      initialWorkPerThousandBlocks: String(of.initialWorkPerThousandBlocks),
      targetBlocksPerActiveRound: String(of.targetBlocksPerActiveRound),
      difficultySmoothingRounds: String(of.difficultySmoothingRounds),
      blockUnitsPerBlock: String(of.blockUnitsPerBlock),
      guardian: of.guardian,
      reporter: of.reporter,
    },
    core: {
      cumulativeWork: String(state.cumulativeWork),
      cumulativeBlockUnits: String(state.cumulativeBlockUnits),
      blockHeight: String(state.cumulativeBlockUnits / blockUnitsPerBlock),
      blockProgress: String(state.cumulativeBlockUnits % blockUnitsPerBlock),
      workPerThousandBlocks: String(state.workPerThousandBlocks),
      settledThroughRound: String(state.settledThroughRound),
      authorizationNonce: String(state.authorizationNonce),
      paused: state.paused,
    },
    implementation: {
      codeAddress: version.implementation,
      codeVersion: String(version.version),
      storageLayoutDigest: version.storageLayoutDigest,
      runtimeHash: version.runtimeHash,
    },
    governance: findOperation(safe),
    source: { eventName: ofCore.name, ...showPlaceInSeconds(ofCore) },
    events: ofGoverned
      .slice(-25)
      .reverse()
      .map((event) => ({
        id: `chain:${safe.deployment.chain.chainId}:${event.address}:${event.place.transactionHash}:${event.place.logIndex}:${event.name}`,
        contractKind: event.contract as (typeof governed)[number],
        contractAddress: event.address,
        eventName: event.name,
        ...showPlaceInSeconds(event),
        arguments: Object.entries(event.args).map(([name, value]) => ({ name, value: toText(value) })),
      })),
  };
}

/** Integers as decimals, hexadecimal in lower case, lists with commas. */
function toText(value: unknown): string {
  if (Array.isArray(value)) return value.map(toText).join(',');
  return String(value).startsWith('0x') ? String(value).toLowerCase() : String(value);
}

/** Core state shows times of blocks as Unix seconds (CONTRACT.md, Units). */
function showPlaceInSeconds({ place }: ChainEvent) {
  return { ...showPlace(place), blockTimestamp: String(Math.floor(place.blockTimestampMs / 1000)) };
}

/** The account that was granted the proposer role last among those that still have it. */
function findProposer(safe: SafeChain): string | null {
  const proposers = new Map<string, boolean>();
  const change = (account: string, isGranted: boolean) => {
    proposers.delete(account);
    if (isGranted) proposers.set(account, true);
  };
  for (const { account, isGranted } of safe.proposers) change(account, isGranted);
  const role = keccak256(toHex('PROPOSER_ROLE'));
  for (const { contract, name, args } of safe.events) {
    if (contract !== 'operatorTimelock' || !/^Role(?:Granted|Revoked)$/.test(name)) continue;
    const { role: changed, account } = args as unknown as { role: string; account: string };
    if (changed === role) change(account, name === 'RoleGranted');
  }
  return [...proposers.keys()].at(-1) ?? null;
}

const upgrade = parseAbi(['function upgradeAndCall(address proxy, address implementation, bytes data)']);

/** The latest operation of the timelock whose target is the proxy or its admin. */
function findOperation(safe: SafeChain): Available['governance'] {
  type Call = {
    readonly id: string;
    readonly target: string;
    readonly data: `0x${string}`;
    readonly delay: bigint;
  };
  const { contracts } = safe.deployment;
  const scheduled = listEvents<Call>(safe, 'operatorTimelock', 'CallScheduled');
  const latest = scheduled.findLast(({ args }) =>
    [contracts.core, contracts.proxyAdmin].includes(args.target),
  );
  if (latest === undefined) return null;
  const { id, target, data, delay } = latest.args;
  const isNamed = (name: string) =>
    listEvents<Call>(safe, 'operatorTimelock', name).some(
      (one) => one.args.id === id && isAfter(one, latest),
    );
  const readyAtMs = latest.place.blockTimestampMs + Number(delay) * 1000;
  return {
    operationId: id,
    operationKind: target === contracts.proxyAdmin && isUpgrade(data) ? 'upgrade' : 'call',
    operationState: isNamed('CallExecuted')
      ? 'executed'
      : isNamed('Cancelled')
        ? 'cancelled'
        : safe.block.timestampMs >= readyAtMs
          ? 'ready'
          : 'scheduled',
  };
}

const isAfter = ({ place: a }: ChainEvent, { place: b }: ChainEvent) =>
  a.blockNumber > b.blockNumber || (a.blockNumber === b.blockNumber && a.logIndex > b.logIndex);

function isUpgrade(data: `0x${string}`): boolean {
  try {
    return decodeFunctionData({ abi: upgrade, data }).functionName === 'upgradeAndCall';
  } catch {
    return false;
  }
}
