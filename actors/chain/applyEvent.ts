import { List } from 'immutable';
import { zeroAddress } from '../schemas/zero.ts';
import type { ChainEvent, ContractAddresses } from './chainEvent.ts';
import { latestChanges, proposerRole } from './chainReads.ts';
import {
  type ChainState,
  coreEventsShown,
  type Implementation,
  type OwnerEvent,
  type OwnerState,
  type Position,
  recentRoundsShown,
  type Settlement,
  withProposers,
} from './chainState.ts';
import { lower, text, whole } from './eventArguments.ts';
import {
  activated,
  activeWeightOf,
  closed,
  earnedScaledThrough,
  opened,
  rewardScale,
  utcDateOf,
} from './rewards.ts';

/** First four bytes of a call of `upgradeAndCall(address,address,bytes)`, and its first argument's bytes before an address. */
const upgradeCall = `0x9623609d${'0'.repeat(24)}`;

const coreContracts: ReadonlySet<string> = new Set(['core', 'proxyAdmin', 'operatorTimelock']);

type Apply = (state: ChainState, event: ChainEvent, contracts: ContractAddresses) => ChainState;

/**
 * The state after one event of a deployment. Events that no view reads leave it as it is.
 *
 * @throws Error when the event cannot follow the state before it.
 */
export function applyEvent(state: ChainState, event: ChainEvent, contracts: ContractAddresses): ChainState {
  const apply = handlers[`${event.contract}.${event.name}`];
  const applied = apply === undefined ? state : apply(state, event, contracts);
  if (!coreContracts.has(event.contract)) return applied;
  const events = [event, ...applied.core.events].slice(0, coreEventsShown);
  const source =
    event.contract === 'core' ? { eventName: event.name, source: event.source } : applied.core.source;
  return { ...applied, core: { ...applied.core, events, source } };
}

const handlers: Readonly<Record<string, Apply>> = {
  'core.CoreConfigured': (state, { args }) => {
    const configuration = {
      streamId: text(args.streamId),
      genesisTimestamp: whole(args.genesisTimestamp),
      roundDuration: whole(args.roundDuration),
      maxWorkPerRound: whole(args.maxWorkPerRound),
      maxRoundsPerBatch: whole(args.maxRoundsPerBatch),
      initialWorkPerThousandBlocks: whole(args.initialWorkPerThousandBlocks),
      targetBlocksPerActiveRound: whole(args.targetBlocksPerActiveRound),
      difficultySmoothingRounds: whole(args.difficultySmoothingRounds),
      blockUnitsPerBlock: whole(args.blockUnitsPerBlock),
      guardian: lower(args.guardian),
      reporter: lower(args.reporter),
    };
    const workPerThousandBlocks = configuration.initialWorkPerThousandBlocks;
    return { ...state, core: { ...state.core, configuration, workPerThousandBlocks } };
  },
  'core.GuardianChanged': (state, { args }) => withConfiguration(state, { guardian: lower(args.guardian) }),
  'core.ReporterChanged': (state, { args }) => withConfiguration(state, { reporter: lower(args.reporter) }),
  'core.VersionActivated': (state, event) => ({
    ...state,
    core: { ...state.core, implementation: implementationOf(event) },
  }),
  'core.Paused': (state) => ({ ...state, core: { ...state.core, paused: true } }),
  'core.Unpaused': (state) => ({ ...state, core: { ...state.core, paused: false } }),
  'core.AdminChanged': (state, { args }) => withGovernance(state, { proxyAdminSlot: lower(args.newAdmin) }),
  'core.RoundSettled': (state, { args }) => ({
    ...state,
    unprocessedRounds: state.unprocessedRounds.push({
      roundId: whole(args.roundId),
      cumulativeWork: whole(args.cumulativeWork),
      cumulativeBlockUnits: whole(args.cumulativeBlockUnits),
    }),
  }),
  'core.BatchSettled': (state, { args, source }) => {
    expectSame('settledThroughRound', state.core.settledThroughRound, args.previousSettledThroughRound);
    expectSame('cumulativeWork', state.core.cumulativeWork + whole(args.workAdded), args.cumulativeWork);
    const settlement: Settlement = {
      source,
      previousSettledThroughRound: whole(args.previousSettledThroughRound),
      settledThroughRound: whole(args.settledThroughRound),
      activeRoundCount: whole(args.activeRoundCount),
      workAdded: whole(args.workAdded),
      cumulativeWork: whole(args.cumulativeWork),
      cumulativeBlockUnits: whole(args.cumulativeBlockUnits),
      previousCumulativeBlockUnits: state.core.cumulativeBlockUnits,
      mintedBaseUnits: 0n,
    };
    const core = {
      ...state.core,
      cumulativeWork: settlement.cumulativeWork,
      cumulativeBlockUnits: settlement.cumulativeBlockUnits,
      workPerThousandBlocks: whole(args.workPerThousandBlocks),
      settledThroughRound: settlement.settledThroughRound,
      authorizationNonce: whole(args.nonce) + 1n,
    };
    return { ...state, core, settlements: state.settlements.push(settlement) };
  },

  'proxyAdmin.OwnershipTransferred': (state, { args }) =>
    withGovernance(state, { proxyAdminOwner: lower(args.newOwner) }),
  'operatorTimelock.RoleGranted': (state, event) => proposerChanged(state, event, true),
  'operatorTimelock.RoleRevoked': (state, event) => proposerChanged(state, event, false),
  'operatorTimelock.CallScheduled': callScheduled,
  'operatorTimelock.CallExecuted': (state, { args }) => withOperation(state, text(args.id), 'executed'),
  'operatorTimelock.Cancelled': (state, { args }) => withOperation(state, text(args.id), 'cancelled'),

  'tokenFactory.TokenCreated': (state, { args }) => ({
    ...state,
    token: { symbol: text(args.symbol), decimals: args.decimals as number, supplyBaseUnits: 0n },
  }),
  'token.Transfer': (state, { args }) => {
    if (state.token === null) return state;
    const value = whole(args.value);
    // From nobody it is a mint, to nobody a burn, and from nobody to nobody neither.
    const minted = args.from === zeroAddress ? value : 0n;
    const burned = args.to === zeroAddress ? value : 0n;
    const supplyBaseUnits = state.token.supplyBaseUnits + minted - burned;
    return { ...state, token: { ...state.token, supplyBaseUnits } };
  },

  'mining.MiningConfigured': (state, { args }) => {
    const weights = args.weights as readonly bigint[];
    const cooldowns = args.cooldownBlocks as readonly bigint[];
    const configuration = {
      core: lower(args.core),
      token: lower(args.token),
      collection: lower(args.collection),
      rewardPerBlock: whole(args.rewardPerBlock),
      supplyCap: whole(args.supplyCap),
      claimLimit: whole(args.claimLimit),
      levels: weights.map((weight, index) => ({ weight, cooldownBlocks: cooldowns[index] as bigint })),
    };
    return { ...state, mining: { ...state.mining, configuration } };
  },
  'mining.VersionActivated': (state, event) => ({
    ...state,
    mining: { ...state.mining, implementation: implementationOf(event) },
  }),
  'mining.PositionMinted': positionMinted,
  'mining.PositionsMerged': positionsMerged,
  'mining.RewardsClaimed': rewardsClaimed,
  'mining.WeightActivated': (state, { args }) => {
    const roundId = whole(args.roundId);
    const { mining } = state;
    return {
      ...state,
      mining: {
        ...mining,
        totalWeight: whole(args.totalWeight),
        lastActivationRound: roundId,
        perWeightAtActivation: mining.perWeightAtActivation.set(
          roundId.toString(),
          whole(args.accumulatedPerWeight),
        ),
        pendingWeight: mining.pendingWeight.delete(roundId.toString()),
      },
    };
  },
  'mining.RoundMinted': roundMinted,
  'mining.Checkpointed': (state, { args, source }) => {
    const throughRound = whole(args.throughRound);
    const checkpoint = {
      source,
      afterRound: whole(args.afterRound),
      throughRound,
      completedBlockCount: whole(args.completedBlockCount),
      cumulativeWork: whole(args.cumulativeWork),
      cumulativeBlockUnits: whole(args.cumulativeBlockUnits),
      eligibleWeight: whole(args.eligibleWeight),
      amountBaseUnits: whole(args.amount),
      totalMintedBaseUnits: whole(args.totalMinted),
    };
    const processed = state.unprocessedRounds.takeWhile(({ roundId }) => roundId <= throughRound);
    return {
      ...state,
      checkpoints: state.checkpoints.push(checkpoint),
      unprocessedRounds: state.unprocessedRounds.skip(processed.size),
      mining: {
        ...state.mining,
        processedThroughRound: throughRound,
        processedBlockUnits: checkpoint.cumulativeBlockUnits,
        mintedBaseUnits: checkpoint.totalMintedBaseUnits,
      },
    };
  },

  'collection.SaleConfigured': (state, { args }) => ({
    ...state,
    collection: {
      ...state.collection,
      sale: {
        allowlistStart: whole(args.allowlistStart),
        allowlistEnd: whole(args.allowlistEnd),
        publicPrice: whole(args.publicPrice),
        publicAllocation: whole(args.publicAllocation),
        protocolReserve: whole(args.protocolReserve),
      },
    },
  }),
  'collection.SaleClosed': (state) => ({ ...state, collection: { ...state.collection, isClosed: true } }),
  'collection.Paused': (state) => ({ ...state, collection: { ...state.collection, paused: true } }),
  'collection.Unpaused': (state) => ({ ...state, collection: { ...state.collection, paused: false } }),
  'collection.PublicMinted': (state, { args }) => ({
    ...state,
    collection: { ...state.collection, publicMinted: whole(args.publicMinted) },
  }),
  'collection.ReserveMinted': (state, { args }) => ({
    ...state,
    collection: { ...state.collection, reserveMinted: whole(args.reserveMinted) },
  }),
  'collection.MetadataEpochAdvanced': (state, { args }) => ({
    ...state,
    collection: { ...state.collection, metadataEpoch: whole(args.epoch) },
  }),
  'collection.MetadataPublished': (state, { args }) => ({
    ...state,
    collection: {
      ...state.collection,
      metadata: state.collection.metadata.set(Number(whole(args.tokenId)), {
        epoch: whole(args.epoch),
        uri: text(args.uri),
      }),
    },
  }),
  'collection.Transfer': transferred,
};

function proposerChanged(state: ChainState, { args }: ChainEvent, isGranted: boolean): ChainState {
  if (args.role !== proposerRole) return state;
  const change = { account: lower(args.account), isGranted };
  const proposers = latestChanges([...state.governance.proposers, change]);
  return { ...state, governance: withProposers(state.governance, proposers) };
}

/** An operation is shown for its calls of the proxy and of the proxy's admin; a batch logs each of its calls, in order. */
function callScheduled(
  state: ChainState,
  { args, source }: ChainEvent,
  contracts: ContractAddresses,
): ChainState {
  const target = lower(args.target);
  if (target !== contracts.core && target !== contracts.proxyAdmin) return state;
  const isUpgrade =
    target === contracts.proxyAdmin &&
    lower(args.data).startsWith(`${upgradeCall}${contracts.core.slice(2)}`);
  const id = text(args.id);
  const { operation } = state.governance;
  // What was cancelled can be scheduled again, as another operation of the same ID.
  const isSameBatch = operation?.id === id && operation.state === 'scheduled';
  return withGovernance(state, {
    operation: {
      id,
      kind: isUpgrade || (isSameBatch && operation.kind === 'upgrade') ? 'upgrade' : 'call',
      state: 'scheduled',
      readyAtMs: source.blockTimestampMs + Number(whole(args.delay)) * 1000,
    },
  });
}

function positionMinted(state: ChainState, { args, address, source }: ChainEvent): ChainState {
  const owner = lower(args.owner);
  const tokenId = Number(whole(args.tokenId));
  const round = whole(args.firstRound);
  const weight = whole(args.weight);
  if (state.positions.has(tokenId)) throw new Error(`token ${tokenId} has a position already`);
  const position: Position = {
    tokenId,
    owner,
    ownershipStartedAtMs: source.blockTimestampMs,
    level: 1,
    pending: { round, source: 'mint', weight },
    nextMergeBlock: whole(args.nextMergeBlock),
    segments: [],
    paidBaseUnits: 0n,
  };
  const held = withToken(withPendingWeight(state, round, weight), owner, tokenId);
  return withActivity({ ...held, positions: held.positions.set(tokenId, position) }, [owner], {
    ...nothing,
    kind: 'mint',
    address,
    tokenIds: [BigInt(tokenId)],
    to: owner,
    level: 1,
    effectiveRound: round,
    nextMergeBlock: position.nextMergeBlock,
    source,
  });
}

function positionsMerged(state: ChainState, { args, address, source }: ChainEvent): ChainState {
  const owner = lower(args.owner);
  const survivorId = Number(whole(args.survivorTokenId));
  const donorId = Number(whole(args.donorTokenId));
  const level = args.level as number;
  const round = whole(args.effectiveRound);
  const { mining } = state;
  const survivor = activated(mining, positionOf(state, survivorId));
  const donor = activated(mining, positionOf(state, donorId));
  const combined = activeWeightOf(survivor) + activeWeightOf(donor);
  const weight = mining.configuration?.levels[level - 1]?.weight;
  if (weight === undefined) throw new Error(`level ${level} has no configured weight`);
  const now = mining.accumulatedPerWeight;
  const merged: Position = {
    ...survivor,
    level,
    pending: { round, source: 'merge', weight },
    nextMergeBlock: whole(args.nextMergeBlock),
    segments: [...closed(survivor.segments, now), ...closed(donor.segments, now), opened(now, combined)],
    paidBaseUnits: survivor.paidBaseUnits + donor.paidBaseUnits,
  };
  const held = withoutToken(withPendingWeight(state, round, weight - combined), owner, donorId);
  const positions = held.positions.set(survivorId, merged).delete(donorId);
  const metadata = held.collection.metadata.delete(donorId);
  return withActivity({ ...held, positions, collection: { ...held.collection, metadata } }, [owner], {
    ...nothing,
    kind: 'merge',
    address,
    tokenIds: [BigInt(survivorId), BigInt(donorId)],
    level,
    effectiveRound: round,
    nextMergeBlock: merged.nextMergeBlock,
    source,
  });
}

/** A claim pays the whole base units of each position; the rest stays with it. */
function rewardsClaimed(state: ChainState, { args, address, source }: ChainEvent): ChainState {
  const owner = lower(args.owner);
  const tokenIds = args.tokenIds as readonly bigint[];
  const amountBaseUnits = whole(args.amount);
  const { mining } = state;
  let { positions } = state;
  for (const tokenId of tokenIds) {
    const position = activated(mining, positionOf({ ...state, positions }, Number(tokenId)));
    const paidBaseUnits = earnedScaledThrough(position, mining.accumulatedPerWeight) / rewardScale;
    positions = positions.set(position.tokenId, { ...position, paidBaseUnits });
  }
  const paid = { ...mining, paidBaseUnits: mining.paidBaseUnits + amountBaseUnits };
  return withActivity({ ...state, positions, mining: paid }, [owner], {
    ...nothing,
    kind: 'claim',
    address,
    tokenIds,
    amountBaseUnits,
    to: owner,
    source,
  });
}

function roundMinted(state: ChainState, { args, source }: ChainEvent): ChainState {
  const roundId = whole(args.roundId);
  const amountBaseUnits = whole(args.amount);
  const accumulatedPerWeight = whole(args.accumulatedPerWeight);
  const { mining } = state;
  if (roundId <= (state.mintedRounds.last()?.roundId ?? 0n))
    throw new Error(`round ${roundId} is minted already, or one after it`);
  const entry = { date: utcDateOf(source.blockTimestampMs), atEnd: accumulatedPerWeight };
  const isSameDate = mining.perWeightByDate.last()?.date === entry.date;
  const earlier = isSameDate ? mining.perWeightByDate.pop() : mining.perWeightByDate;
  const index = state.settlements.findLastIndex(
    (one) => one.previousSettledThroughRound < roundId && roundId <= one.settledThroughRound,
  );
  const settlement = state.settlements.get(index);
  // A negative index would be one from the end.
  if (index < 0 || settlement === undefined) throw new Error(`round ${roundId} was minted and never settled`);
  return {
    ...state,
    mintedRounds: state.mintedRounds.push({ roundId, amountBaseUnits }).takeLast(recentRoundsShown),
    settlements: state.settlements.set(index, {
      ...settlement,
      mintedBaseUnits: settlement.mintedBaseUnits + amountBaseUnits,
    }),
    mining: {
      ...mining,
      accumulatedPerWeight,
      closedThroughBlock: mining.closedThroughBlock + whole(args.completedBlockCount),
      perWeightByDate: earlier.push(entry),
    },
  };
}

function transferred(state: ChainState, { args, address, source }: ChainEvent): ChainState {
  const [from, to] = [lower(args.from), lower(args.to)];
  // Mints and merges have events of their own.
  if (from === zeroAddress || to === zeroAddress) return state;
  const tokenId = Number(whole(args.tokenId));
  const position = positionOf(state, tokenId);
  if (position.owner !== from) throw new Error(`token ${tokenId} is not that of ${from}`);
  const moved = withToken(withoutToken(state, from, tokenId), to, tokenId);
  const positions = moved.positions.set(tokenId, {
    ...position,
    owner: to,
    ownershipStartedAtMs: from === to ? position.ownershipStartedAtMs : source.blockTimestampMs,
  });
  return withActivity({ ...moved, positions }, from === to ? [to] : [from, to], {
    ...nothing,
    kind: 'transfer',
    address,
    tokenIds: [BigInt(tokenId)],
    from,
    to,
    source,
  });
}

const nothing = {
  amountBaseUnits: null,
  from: null,
  to: null,
  level: null,
  effectiveRound: null,
  nextMergeBlock: null,
};

function withActivity(state: ChainState, owners: readonly string[], event: OwnerEvent): ChainState {
  let held = state.owners;
  for (const owner of owners) {
    held = held.update(owner, emptyOwner, (known) => ({ ...known, activity: known.activity.push(event) }));
  }
  return { ...state, owners: held };
}

const emptyOwner: OwnerState = { tokenIds: [], activity: List() };

function withToken(state: ChainState, owner: string, tokenId: number): ChainState {
  const owners = state.owners.update(owner, emptyOwner, (known) => ({
    ...known,
    // Ascending; mostly the new one is the largest.
    tokenIds: known.tokenIds.toSpliced(known.tokenIds.findLastIndex((one) => one < tokenId) + 1, 0, tokenId),
  }));
  return { ...state, owners };
}

function withoutToken(state: ChainState, owner: string, tokenId: number): ChainState {
  const owners = state.owners.update(owner, emptyOwner, (known) => ({
    ...known,
    tokenIds: known.tokenIds.filter((one) => one !== tokenId),
  }));
  return { ...state, owners };
}

function withPendingWeight(state: ChainState, round: bigint, change: bigint): ChainState {
  const pendingWeight = state.mining.pendingWeight.update(round.toString(), 0n, (sum) => sum + change);
  return { ...state, mining: { ...state.mining, pendingWeight } };
}

function withConfiguration(state: ChainState, change: { guardian?: string; reporter?: string }): ChainState {
  const { configuration } = state.core;
  if (configuration === null) throw new Error('the core changed its configuration before it had one');
  return { ...state, core: { ...state.core, configuration: { ...configuration, ...change } } };
}

function withGovernance(state: ChainState, change: Partial<ChainState['governance']>): ChainState {
  return { ...state, governance: { ...state.governance, ...change } };
}

function withOperation(state: ChainState, id: string, operationState: 'executed' | 'cancelled'): ChainState {
  const { operation } = state.governance;
  if (operation === null || operation.id !== id) return state;
  return withGovernance(state, { operation: { ...operation, state: operationState } });
}

function implementationOf({ args }: ChainEvent): Implementation {
  return {
    codeAddress: lower(args.implementation),
    codeVersion: whole(args.version),
    storageLayoutDigest: text(args.storageLayoutDigest),
    runtimeHash: text(args.runtimeHash),
  };
}

/** What an event says of the state before it has to be so; otherwise an event before it is missing or there twice. */
function expectSame(name: string, held: bigint, told: unknown): void {
  if (held !== whole(told)) throw new Error(`${name} is ${held} here, and ${whole(told)} in the event`);
}

function positionOf(state: ChainState, tokenId: number): Position {
  const position = state.positions.get(tokenId);
  if (position === undefined) throw new Error(`token ${tokenId} has no position`);
  return position;
}
