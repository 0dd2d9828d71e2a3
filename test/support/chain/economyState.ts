import type { Hash } from 'viem';
import { applyEvent } from '../../../actors/chain/applyEvent.ts';
import { type ChainActors, createChainActors } from '../../../actors/chain/chainActors.ts';
import type { ChainEvent, ContractAddresses, ContractKind } from '../../../actors/chain/chainEvent.ts';
import { type ChainState, emptyChainState, type KnownBlock } from '../../../actors/chain/chainState.ts';
import { toAddress } from '../../../actors/schemas/hex.ts';
import { type ChainDeployment, createChainViews } from '../../../actors/views/chainViews.ts';
import { type ManualClock, manualClock } from '../manualClock.ts';
import { noOlderActivity } from '../storage/noOlderActivity.ts';
import { testRelease } from './foldedChain.ts';

const addressOf = (digit: string) => toAddress(`0x${digit.repeat(40)}`);
const bytes32Of = (digit: string): Hash => `0x${digit.repeat(64)}`;

export const stateOwner = addressOf('a');
export const stateContracts: ContractAddresses = {
  core: addressOf('1'),
  proxyAdmin: addressOf('2'),
  operatorTimelock: addressOf('3'),
  tokenFactory: addressOf('4'),
  mining: addressOf('5'),
  token: addressOf('6'),
  collection: addressOf('7'),
};

export const stateDeployment: ChainDeployment = {
  release: testRelease,
  chain: { target: 'anvil', chainId: 31_337n, deploymentBlock: 10n, economyDeploymentBlock: 20n },
  contracts: stateContracts,
};

/** One log of the deployment: which contract, which event, its arguments; a second after the last one unless a time is given. */
export interface StateEvent {
  readonly contract: ContractKind;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly atMs?: number;
}

/** Whatever a contract can hold in the members that views show. */
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

const version = (contract: ContractKind, codeVersion: bigint): StateEvent => ({
  contract,
  name: 'VersionActivated',
  args: {
    version: codeVersion,
    storageLayoutDigest: bytes32Of('d'),
    implementation: addressOf('8'),
    runtimeHash: bytes32Of('e'),
  },
});

/** What the core and its governance log. */
export function coreEvents(given: EconomyValues = plainEconomy): StateEvent[] {
  return [
    {
      contract: 'core',
      name: 'CoreConfigured',
      args: {
        streamId: bytes32Of('5'),
        genesisTimestamp: given.genesisTimestamp,
        roundDuration: given.roundDuration,
        maxWorkPerRound: given.maxWorkPerRound,
        maxRoundsPerBatch: 16n,
        initialWorkPerThousandBlocks: given.workPerThousandBlocks,
        targetBlocksPerActiveRound: given.targetBlocksPerActiveRound,
        difficultySmoothingRounds: given.difficultySmoothingRounds,
        blockUnitsPerBlock: 1_000_000_000n,
        guardian: addressOf('b'),
        reporter: addressOf('c'),
      },
    },
    version('core', given.codeVersion),
    { contract: 'core', name: 'AdminChanged', args: { newAdmin: stateContracts.proxyAdmin } },
    {
      contract: 'proxyAdmin',
      name: 'OwnershipTransferred',
      args: { newOwner: stateContracts.operatorTimelock },
    },
    {
      contract: 'operatorTimelock',
      name: 'RoleGranted',
      args: {
        role: '0xb09aa5aeb3702cfd50b6b62bc4532604938f21248a27a1d5ca736082b6819cc1',
        account: addressOf('9'),
      },
    },
    {
      contract: 'operatorTimelock',
      name: 'CallScheduled',
      args: {
        id: bytes32Of('f'),
        index: 0n,
        target: stateContracts.proxyAdmin,
        value: 0n,
        data: '0x',
        predecessor: bytes32Of('0'),
        delay: given.timelockDelay,
      },
    },
  ];
}

/** A round with work, and the batch that settled it. */
export function settlementEvents(
  given: EconomyValues = plainEconomy,
  { atMs, cumulativeWork = given.work }: { readonly atMs?: number; readonly cumulativeWork?: bigint } = {},
): StateEvent[] {
  const sums = { cumulativeWork, cumulativeBlockUnits: given.blockUnits };
  return [
    {
      contract: 'core',
      name: 'RoundSettled',
      args: { roundId: given.settledRound, work: given.work, ...sums },
    },
    {
      contract: 'core',
      name: 'BatchSettled',
      ...(atMs === undefined ? {} : { atMs }),
      args: {
        previousSettledThroughRound: given.previousRound,
        settledThroughRound: given.settledRound,
        activeRoundCount: 1n,
        workAdded: given.work,
        ...sums,
        workPerThousandBlocks: given.workPerThousandBlocks,
        nonce: given.nonce,
      },
    },
  ];
}

/** What the economy logs before anything is settled. */
export function economyEvents(given: EconomyValues = plainEconomy): StateEvent[] {
  return [
    {
      contract: 'tokenFactory',
      name: 'TokenCreated',
      args: { token: stateContracts.token, symbol: given.symbol, decimals: given.decimals },
    },
    {
      contract: 'mining',
      name: 'MiningConfigured',
      args: {
        core: stateContracts.core,
        token: stateContracts.token,
        collection: stateContracts.collection,
        rewardPerBlock: given.rewardPerBlock,
        supplyCap: given.supplyCap,
        claimLimit: given.claimLimit,
        weights: [given.weight, given.weight],
        cooldownBlocks: [given.cooldownBlocks, given.cooldownBlocks],
      },
    },
    version('mining', given.codeVersion),
    { contract: 'collection', name: 'MetadataEpochAdvanced', args: { epoch: 1n } },
    {
      contract: 'collection',
      name: 'SaleConfigured',
      args: {
        allowlistStart: given.allowlistStart,
        allowlistEnd: given.allowlistEnd,
        publicPrice: given.publicPrice,
        publicAllocation: given.publicAllocation,
        protocolReserve: given.protocolReserve,
      },
    },
    {
      contract: 'collection',
      name: 'PublicMinted',
      args: { owner: stateOwner, quantity: 1n, publicMinted: given.publicMinted },
    },
    {
      contract: 'mining',
      name: 'PositionMinted',
      args: {
        owner: stateOwner,
        tokenId: given.tokenId,
        weight: given.weight,
        nextMergeBlock: given.nextMergeBlock,
        firstRound: given.firstRound,
      },
    },
    metadataEvent(given.tokenId, plainMetadata),
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

/** A checkpoint that mints for what {@link settlementEvents} settled. */
export function checkpointEvents(given: EconomyValues = plainEconomy): StateEvent[] {
  return [
    {
      contract: 'mining',
      name: 'WeightActivated',
      args: { roundId: given.firstRound, totalWeight: given.weight, accumulatedPerWeight: 0n },
    },
    {
      contract: 'mining',
      name: 'RoundMinted',
      args: {
        roundId: given.settledRound,
        completedBlockCount: given.completedBlockCount,
        eligibleWeight: given.weight,
        amount: given.minted,
        accumulatedPerWeight: given.accumulatedPerWeight,
      },
    },
    {
      contract: 'token',
      name: 'Transfer',
      args: { from: `0x${'0'.repeat(40)}`, to: stateContracts.mining, value: given.supply },
    },
    {
      contract: 'mining',
      name: 'Checkpointed',
      args: {
        afterRound: 0n,
        throughRound: given.processedRound,
        completedBlockCount: given.completedBlockCount,
        cumulativeWork: given.work,
        cumulativeBlockUnits: given.blockUnits,
        eligibleWeight: given.weight,
        amount: given.minted,
        totalMinted: given.minted,
      },
    },
  ];
}

/** All of an economy's life that views show. */
export function wholeEconomy(given: Partial<EconomyValues> = {}): StateEvent[] {
  const values = { ...plainEconomy, ...given };
  return [
    ...coreEvents(values),
    ...economyEvents(values),
    ...settlementEvents(values),
    ...checkpointEvents(values),
  ];
}

const stateBlock: KnownBlock = {
  number: 100n,
  hash: bytes32Of('9'),
  timestampMs: Date.UTC(2026, 1, 3, 10),
};

/** The state that events lead to, as it is at a block. */
export function stateOf(events: readonly StateEvent[], block: Partial<KnownBlock> = {}): ChainState {
  const known = { ...stateBlock, ...block };
  const firstMs = known.timestampMs - events.length * 1_000;
  return events.reduce(
    (state, { contract, name, args, atMs }, index) =>
      applyEvent(
        state,
        {
          contract,
          address: stateContracts[contract],
          name,
          args,
          source: {
            blockNumber: known.number,
            blockHash: known.hash,
            blockTimestampMs: atMs ?? firstMs + index * 1_000,
            transactionHash: bytes32Of('a'),
            transactionIndex: 0,
            logIndex: index,
          },
          // Of the arguments those alone that a state is made of.
        } as ChainEvent,
        stateContracts,
      ),
    emptyChainState(known, 'run'),
  );
}

/** Views over a state that a test sets. */
export function viewsOfState(
  first: ChainState | null,
  deployment: ChainDeployment = stateDeployment,
  clock: ManualClock = manualClock(),
) {
  const held = { state: first, isCaughtUp: true, isMismatched: false };
  const empty = createChainActors({ ...deployment.chain, contracts: deployment.contracts });
  const spanAtMs = clock.nowMs();
  const actors: ChainActors = Object.create(empty, {
    newest: { value: () => held.state },
    at: {
      value: (block: bigint, hash: string) =>
        held.state?.block.number === block && held.state.block.hash === hash ? held.state : null,
    },
    newestSpanAtMs: { value: spanAtMs },
    state: { get: () => ({ ...empty.state, isMismatched: held.isMismatched }) },
  });
  const views = createChainViews({
    installationId: 'wheel-1',
    onChain: { deployment, actors },
    isCaughtUp: () => held.isCaughtUp,
    staleAfterMs: 120_000,
    olderActivity: noOlderActivity,
    clock,
  });
  return { held, views, clock };
}
