import { z } from 'zod';
import { arrival, chainFeedEvent, eventSource } from '../../events/eventSchemas.ts';
import { defineListRecord, defineRecord } from '../../foldRecord.ts';
import { isBytes } from '../../schemas/hex.ts';
import { address, blockHash, bytes32, transactionHash } from '../../schemas/wireScalars.ts';
import type { FoldedBlock } from '../fold/spanFoldState.ts';
import type { ChainEvent } from '../spans/chainEvent.ts';
import { isChainEvent } from '../spans/isChainEvent.ts';
import { operationStates } from '../state/coreState.ts';
import { activityKinds } from '../state/ownerState.ts';

/** Kinds of records that the state of the chain consists of, and what each of them holds. */

const amount = z.bigint();
const count = z.int().min(0);
const milliseconds = z.int();
const bytes = z.string().refine(isBytes);

const knownBlock = z.strictObject({ number: amount, hash: blockHash, timestampMs: milliseconds });

const chainEvent = z.custom<ChainEvent>(isChainEvent, 'expected an event of a deployment');

const foldedBlock: z.ZodType<FoldedBlock> = z.strictObject({
  number: amount,
  hash: blockHash,
  timestampMs: milliseconds,
  events: z.array(chainEvent),
  problem: z.string().nullable(),
});

const chainLog = z.strictObject({
  address,
  topics: z.array(bytes32),
  data: bytes,
  transactionHash,
  transactionIndex: count,
  logIndex: count,
});

const chainSpan = z.strictObject({
  chainId: amount,
  core: address,
  fork: count,
  fromBlock: amount,
  toBlock: amount,
  parentHash: blockHash,
  blocks: z.array(
    z.strictObject({ number: amount, hash: blockHash, timestampMs: milliseconds, logs: z.array(chainLog) }),
  ),
  part: z.strictObject({ index: count, count }).nullable(),
});

const proposers = z.array(z.strictObject({ account: address, isGranted: z.boolean() }));

/** Everything of the fold but its safe states. */
const fold = z.strictObject({
  head: knownBlock.nullable(),
  reversible: z.array(amount),
  unsafe: z.array(foldedBlock),
  fault: z.strictObject({ block: knownBlock, detail: z.string() }).nullable(),
  rootHash: blockHash.nullable(),
  reads: z.strictObject({ blockHash, proposers }).nullable(),
  parts: z.strictObject({ span: chainSpan, logs: z.array(chainLog) }).nullable(),
  forks: count,
  isMismatched: z.boolean(),
  newestSpanAtMs: milliseconds.nullable(),
});

const implementation = z
  .strictObject({
    codeAddress: address,
    codeVersion: amount,
    storageLayoutDigest: bytes32,
    runtimeHash: bytes32,
  })
  .nullable();

const core = z.strictObject({
  configuration: z
    .strictObject({
      streamId: bytes32,
      genesisTimestamp: amount,
      roundDuration: amount,
      maxWorkPerRound: amount,
      maxRoundsPerBatch: amount,
      initialWorkPerThousandBlocks: amount,
      targetBlocksPerActiveRound: amount,
      difficultySmoothingRounds: amount,
      blockUnitsPerBlock: amount,
      guardian: address,
      reporter: address,
    })
    .nullable(),
  implementation,
  cumulativeWork: amount,
  cumulativeBlockUnits: amount,
  workPerThousandBlocks: amount,
  settledThroughRound: amount,
  authorizationNonce: amount,
  paused: z.boolean(),
  source: z.strictObject({ eventName: z.string(), source: eventSource }).nullable(),
  events: z.array(chainEvent),
});

const governance = z.strictObject({
  proxyAdminOwner: address.nullable(),
  proxyAdminSlot: address.nullable(),
  proposers,
  operatorProposer: address.nullable(),
  operation: z
    .strictObject({
      id: bytes32,
      kind: z.enum(['upgrade', 'call']),
      state: z.enum(operationStates),
      readyAtMs: milliseconds,
    })
    .nullable(),
});

const mining = z.strictObject({
  configuration: z
    .strictObject({
      core: address,
      token: address,
      collection: address,
      rewardPerBlock: amount,
      supplyCap: amount,
      claimLimit: amount,
      levels: z.array(z.strictObject({ weight: amount, cooldownBlocks: amount })),
    })
    .nullable(),
  implementation,
  totalWeight: amount,
  accumulatedPerWeight: amount,
  mintedBaseUnits: amount,
  paidBaseUnits: amount,
  processedThroughRound: amount,
  closedThroughBlock: amount,
  lastActivationRound: amount,
  processedBlockUnits: amount,
});

const collection = z.strictObject({
  sale: z
    .strictObject({
      allowlistStart: amount,
      allowlistEnd: amount,
      publicPrice: amount,
      publicAllocation: amount,
      protocolReserve: amount,
    })
    .nullable(),
  isClosed: z.boolean(),
  paused: z.boolean(),
  publicMinted: amount,
  reserveMinted: amount,
  metadataEpoch: amount,
});

const settlement = z.strictObject({
  source: eventSource,
  previousSettledThroughRound: amount,
  settledThroughRound: amount,
  activeRoundCount: amount,
  workAdded: amount,
  cumulativeWork: amount,
  cumulativeBlockUnits: amount,
  previousCumulativeBlockUnits: amount,
  mintedBaseUnits: amount,
  position: count,
});

const archived = { rowCount: count, count, throughMs: milliseconds };

/** The newest safe state without what has a key: each list below is its own kind of record. */
const state = z.strictObject({
  block: knownBlock,
  position: count,
  core,
  governance,
  mining,
  collection,
  token: z.strictObject({ symbol: z.string(), decimals: count, supplyBaseUnits: amount }).nullable(),
  mintedRounds: z.array(z.strictObject({ roundId: amount, amountBaseUnits: amount })),
  activityRowsThroughBlock: amount.nullable(),
  archive: z.strictObject({
    settlements: z.strictObject({
      ...archived,
      activeRoundCount: amount,
      workAdded: amount,
      completedBlockCount: amount,
      completed: z.array(settlement),
    }),
    checkpoints: z.strictObject({ ...archived, amountBaseUnits: amount }),
  }),
  feedRun: z.string(),
  givenUpEvents: z.strictObject({
    through: arrival.nullable(),
    throughMs: milliseconds,
    atPosition: count,
  }),
});

const settledRound = z.strictObject({
  roundId: amount,
  cumulativeWork: amount,
  cumulativeBlockUnits: amount,
});

const checkpoint = z.strictObject({
  source: eventSource,
  afterRound: amount,
  throughRound: amount,
  completedBlockCount: amount,
  cumulativeWork: amount,
  cumulativeBlockUnits: amount,
  eligibleWeight: amount,
  amountBaseUnits: amount,
  totalMintedBaseUnits: amount,
  position: count,
});

const position = z.strictObject({
  tokenId: count,
  owner: address,
  ownershipStartedAtMs: milliseconds,
  level: count,
  pending: z.strictObject({ round: amount, source: z.enum(['mint', 'merge']), weight: amount }).nullable(),
  nextMergeBlock: amount,
  segments: z.array(
    z.strictObject({ fromPerWeight: amount, throughPerWeight: amount.nullable(), weight: amount }),
  ),
  paidBaseUnits: amount,
});

const ownerEvent = z.strictObject({
  kind: z.enum(activityKinds),
  address,
  tokenIds: z.array(amount),
  amountBaseUnits: amount.nullable(),
  from: address.nullable(),
  to: address.nullable(),
  level: count.nullable(),
  effectiveRound: amount.nullable(),
  nextMergeBlock: amount.nullable(),
  source: eventSource,
  position: count,
});

export const chainRecords = {
  /** One, with an empty key. */
  fold: defineRecord('fold', fold),
  /** One, with an empty key, once there is a safe state. */
  state: defineRecord('state', state),
  /** By number. */
  settlement: defineRecord('settlement', settlement),
  /** By round. */
  unprocessedRound: defineRecord('unprocessedRound', settledRound),
  /** By number. */
  checkpoint: defineRecord('checkpoint', checkpoint),
  /** `accumulatedPerWeight` at the end of a date, by it. */
  perWeight: defineRecord('perWeight', amount),
  /** `accumulatedPerWeight` at the activation of a round, by it. */
  activationPerWeight: defineRecord('activationPerWeight', amount),
  /** By round. */
  pendingWeight: defineRecord('pendingWeight', amount),
  /** By token. */
  metadata: defineRecord('metadata', z.strictObject({ epoch: amount, uri: z.string() })),
  /** By token. */
  position: defineListRecord('position', position),
  /** By `formatArrival`. */
  feedEvent: defineRecord('feedEvent', chainFeedEvent),
  /** By owner and number: `0x.../0` is the first one. */
  activity: defineListRecord('activity', ownerEvent),
  /** By owner, of those of whose events none is in memory: how many there were. */
  activityCount: defineRecord('activityCount', count),
} as const;
