import type { Hash } from 'viem';
import { type ChainActors, createChainActors } from '../../../actors/chain/chainActors.ts';
import { applyEvent } from '../../../actors/chain/handlers/applyEvent.ts';
import type { ChainEvent, ContractKind } from '../../../actors/chain/spans/chainEvent.ts';
import { proposerRole } from '../../../actors/chain/spans/chainReads.ts';
import { type ChainState, emptyChainState, type KnownBlock } from '../../../actors/chain/state/chainState.ts';
import { toAddress, toBlockHash, toTransactionHash, zeroAddress } from '../../../actors/schemas/hex.ts';
import type { ChainDeployment } from '../../../actors/views/chain/chainDeployment.ts';
import { createChainViews } from '../../../actors/views/chain/chainViews.ts';
import { genesisMs } from '../genesis.ts';
import { type ManualClock, manualClock } from '../manualClock.ts';
import { noOlderActivity } from '../storage/noOlderRows.ts';
import { testRelease } from './testRelease.ts';
import { findEvent, type WrittenEvent, writtenContracts } from './writtenSpans.ts';

const repeatAddress = (digit: string) => toAddress(`0x${digit.repeat(40)}`);
const repeatBytes32 = (digit: string): Hash => `0x${digit.repeat(64)}`;

export const stateOwner = repeatAddress('a');
export const stateDeployment: ChainDeployment = {
  release: testRelease,
  chain: { target: 'anvil', chainId: 31_337n, deploymentBlock: 10n, economyDeploymentBlock: 20n },
  contracts: writtenContracts,
};

/** One log of the deployment. By default it is a second after the last one. */
export interface StateEvent extends WrittenEvent {
  readonly atMs?: number;
}

/** Values of the contracts that views show. */
export const plainEconomy = {
  genesisTimestamp: 1_769_860_800n,
  roundDuration: 600n,
  maxWorkPerRound: 1_000_000n,
  targetBlocksPerActiveRound: 2n,
  difficultySmoothingRounds: 48n,
  workPerThousandBlocks: 1_000_000n,
  timelockDelay: 60n,
  work: 5_000n,
  blockUnits: 5_000_000_000n,
  previousRound: 0n,
  settledRound: 4n,
  nonce: 0n,
  rewardPerBlock: 50n,
  supplyCap: 1_000_000n,
  claimLimit: 32n,
  weight: 100n,
  cooldownBlocks: 3n,
  tokenId: 1n,
  nextMergeBlock: 9n,
  firstRound: 2n,
  completedBlockCount: 5n,
  minted: 250n,
  supply: 250n,
  accumulatedPerWeight: 10n ** 27n,
  processedRound: 4n,
  allowlistStart: 1_769_860_800n,
  allowlistEnd: 1_769_870_800n,
  publicPrice: 10n ** 16n,
  publicAllocation: 100n,
  protocolReserve: 10n,
  publicMinted: 1n,
  decimals: 18,
  level: 1,
  codeVersion: 1n,
  symbol: 'SQK',
};
export type EconomyValues = typeof plainEconomy;

/** Arguments of the logs by name. Those that no value decides are fixed. */
const listArguments = (values: EconomyValues): Readonly<Record<string, unknown>> => ({
  ...values,
  ...{ streamId: repeatBytes32('5'), guardian: repeatAddress('b'), reporter: repeatAddress('c') },
  ...{ maxRoundsPerBatch: 16n, blockUnitsPerBlock: 1_000_000_000n },
  initialWorkPerThousandBlocks: values.workPerThousandBlocks,
  ...{ newAdmin: writtenContracts.proxyAdmin, newOwner: writtenContracts.operatorTimelock },
  ...{ role: proposerRole, account: repeatAddress('9') },
  ...{ id: repeatBytes32('f'), index: 0n, target: writtenContracts.proxyAdmin, value: 0n, data: '0x' },
  ...{ predecessor: repeatBytes32('0'), delay: values.timelockDelay },
  ...{ version: values.codeVersion, storageLayoutDigest: repeatBytes32('d') },
  ...{ implementation: repeatAddress('8'), runtimeHash: repeatBytes32('e') },
  ...{ roundId: values.settledRound, activeRoundCount: 1n, workAdded: values.work },
  ...{ cumulativeWork: values.work, cumulativeBlockUnits: values.blockUnits },
  ...{ previousSettledThroughRound: values.previousRound, settledThroughRound: values.settledRound },
  ...{ core: writtenContracts.core, token: writtenContracts.token, collection: writtenContracts.collection },
  weights: [values.weight, values.weight],
  cooldownBlocks: [values.cooldownBlocks, values.cooldownBlocks],
  ...{ owner: stateOwner, quantity: 1n, epoch: 1n },
  ...{ totalWeight: values.weight, eligibleWeight: values.weight },
  ...{ amount: values.minted, totalMinted: values.minted },
  ...{ afterRound: 0n, throughRound: values.processedRound },
});

/** Writes logs with the arguments that a state needs: those of the list that the contract's event has. */
function createWriter(values: EconomyValues) {
  const list = listArguments(values);
  return (contract: ContractKind, name: string, given: WrittenEvent['args'] = {}): StateEvent => {
    const known = { ...list, ...given };
    const inputs = findEvent(contract, name).inputs.map((input) => input.name as string);
    const args = inputs.flatMap((input) => (input in known ? [[input, known[input]]] : []));
    return { contract, name, args: Object.fromEntries(args) };
  };
}

/** Logs of the core and its governance. */
export function coreEvents(values: EconomyValues = plainEconomy): StateEvent[] {
  const write = createWriter(values);
  return [
    write('core', 'CoreConfigured'),
    write('core', 'VersionActivated'),
    write('core', 'AdminChanged'),
    write('proxyAdmin', 'OwnershipTransferred'),
    write('operatorTimelock', 'RoleGranted'),
    write('operatorTimelock', 'CallScheduled'),
  ];
}

/** A round with work, and the batch that settled it. */
export function settlementEvents(
  values: EconomyValues = plainEconomy,
  { atMs, cumulativeWork = values.work }: { readonly atMs?: number; readonly cumulativeWork?: bigint } = {},
): StateEvent[] {
  const write = createWriter(values);
  const batch = write('core', 'BatchSettled', { cumulativeWork });
  return [write('core', 'RoundSettled', { cumulativeWork }), atMs === undefined ? batch : { ...batch, atMs }];
}

/** Logs of the economy before anything is settled. */
export function economyEvents(values: EconomyValues = plainEconomy): StateEvent[] {
  const write = createWriter(values);
  return [
    write('tokenFactory', 'TokenCreated'),
    write('mining', 'MiningConfigured'),
    write('mining', 'VersionActivated'),
    write('collection', 'MetadataEpochAdvanced'),
    write('collection', 'SaleConfigured'),
    write('collection', 'PublicMinted'),
    write('mining', 'PositionMinted'),
    metadataEvent(values.tokenId, plainMetadata),
  ];
}

export const plainMetadata = {
  name: 'Miner #1',
  description: 'A miner',
  attributes: [{ trait_type: 'Level', value: '1' }] as object[],
  image: `data:image/svg+xml;base64,${Buffer.from('<svg/>').toString('base64')}`,
};

export function metadataEvent(tokenId: bigint, metadata: object | string): StateEvent {
  const json = Buffer.from(JSON.stringify(metadata)).toString('base64');
  const uri = typeof metadata === 'string' ? metadata : `data:application/json;base64,${json}`;
  return { contract: 'collection', name: 'MetadataPublished', args: { tokenId, epoch: 1n, uri } };
}

/** A checkpoint that mints for the batch of {@link settlementEvents}. */
function checkpointEvents(values: EconomyValues = plainEconomy): StateEvent[] {
  const write = createWriter(values);
  const minting = { from: zeroAddress, to: writtenContracts.mining, value: values.supply };
  return [
    write('mining', 'WeightActivated', { roundId: values.firstRound, accumulatedPerWeight: 0n }),
    write('mining', 'RoundMinted'),
    write('token', 'Transfer', minting),
    write('mining', 'Checkpointed'),
  ];
}

/** Logs of everything that views show of an economy. */
export function buildEconomyEvents(overrides: Partial<EconomyValues> = {}): StateEvent[] {
  const values = { ...plainEconomy, ...overrides };
  return [
    ...coreEvents(values),
    ...economyEvents(values),
    ...settlementEvents(values),
    ...checkpointEvents(values),
  ];
}

export const stateBlock: KnownBlock = {
  number: 100n,
  hash: toBlockHash(repeatBytes32('9')),
  timestampMs: Date.UTC(2026, 1, 3, 10),
};

/** A state after the events of one block more. By default each is a second after the previous one, through the block's time. */
export function applyEvents(before: ChainState, events: readonly StateEvent[]): ChainState {
  const { number, hash, timestampMs } = before.block;
  const firstMs = timestampMs - events.length * 1_000;
  return events.reduce((state, { contract, name, args, atMs }, logIndex) => {
    const source = {
      ...{ blockNumber: number, blockHash: hash, blockTimestampMs: atMs ?? firstMs + logIndex * 1_000 },
      ...{ transactionHash: toTransactionHash(repeatBytes32('a')), transactionIndex: 0, logIndex },
    };
    // It has only the arguments that a state needs.
    const event = { contract, address: writtenContracts[contract], name, args, source } as ChainEvent;
    return applyEvent(state, event, writtenContracts);
  }, before);
}

/** The state after events, at a block. */
export const buildState = (events: readonly StateEvent[], block: Partial<KnownBlock> = {}): ChainState =>
  applyEvents(emptyChainState({ ...stateBlock, ...block }), events);

/** A process that is behind nothing. */
export const foldedThrough = {
  streamCreatedMs: 1,
  position: Number.MAX_SAFE_INTEGER,
  storedAtMs: Number.MAX_SAFE_INTEGER,
};

/** Views over a state that a test sets. */
export function createStateViews(
  first: ChainState | null,
  deployment: ChainDeployment = stateDeployment,
  clock: ManualClock = manualClock(),
) {
  const source = {
    state: first,
    older: null as ChainState | null,
    isCaughtUp: true,
    isMismatched: false,
    fault: null as ChainActors['fault'],
    head: null as ChainActors['state']['head'],
    behindAfterMs: Number.POSITIVE_INFINITY,
  };
  const empty = createChainActors({ ...deployment.chain, contracts: deployment.contracts });
  const spanAtMs = clock.nowMs();
  const actors: ChainActors = Object.create(empty, {
    newest: { value: () => source.state },
    at: {
      value: (block: bigint, hash: string) =>
        [source.state, source.older].find((one) => one?.block.number === block && one.block.hash === hash) ??
        null,
    },
    fault: { get: () => source.fault },
    newestSpanAtMs: { value: spanAtMs },
    foldedThrough: { value: foldedThrough },
    state: { get: () => ({ ...empty.state, isMismatched: source.isMismatched, head: source.head }) },
  });
  const views = createChainViews({
    installationId: 'wheel-1',
    onChain: { deployment, actors },
    genesisMs,
    isCaughtUp: () => source.isCaughtUp,
    staleAfterMs: 120_000,
    get behindAfterMs() {
      return source.behindAfterMs;
    },
    olderActivity: noOlderActivity,
    clock,
  });
  return { source, views, clock };
}

/** Views over an economy, after further events. */
export const createEconomyViews = (values: Partial<EconomyValues> = {}, ...further: readonly StateEvent[]) =>
  createStateViews(buildState([...buildEconomyEvents(values), ...further]));

/** The mints of more miners of the same owner. */
export const mintMore = (...tokenIds: readonly bigint[]): StateEvent[] =>
  tokenIds.flatMap((tokenId) =>
    buildEconomyEvents({ tokenId }).filter(({ name }) => name === 'PositionMinted'),
  );

/** The events of an economy, with changed arguments of one event. */
export function replaceArguments(contract: string, name: string, change: object): StateEvent[] {
  return buildEconomyEvents().map((event) =>
    event.contract === contract && event.name === name
      ? { ...event, args: { ...event.args, ...change } }
      : event,
  );
}
