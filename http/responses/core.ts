import { z } from 'zod';
import {
  blockUnitsPerBlock,
  type ChainEvent,
  type ChainUnavailable,
  type CoreView,
} from '../../actors/views/chainViewTypes.ts';
import {
  address,
  bytes32,
  chainBrief,
  defineUnavailable,
  eventSourceMembers,
  text,
  toChainBriefBody,
  toEventSourceBody,
  toUnavailableBody,
} from './chain.ts';
import { decimal, installationId } from './scalars.ts';

/** Core state shows times of blocks as Unix seconds (CONTRACT.md, Units). */
const sourceMembers = { ...eventSourceMembers, blockTimestamp: decimal };

const coreEvent = z
  .strictObject({
    id: z.string().min(1).max(512),
    contractKind: z.enum(['core', 'proxyAdmin', 'operatorTimelock']),
    contractAddress: address,
    eventName: text,
    ...sourceMembers,
    arguments: z.array(z.strictObject({ name: text, value: z.string() })),
  })
  .meta({ id: 'CoreEvent' });

const available = z.strictObject({
  schemaVersion: z.literal(1),
  installationId,
  status: z.literal('available'),
  chain: chainBrief,
  identities: z.strictObject({
    core: address,
    proxyAdmin: address,
    proxyAdminOwner: address,
    operatorTimelock: address,
    operatorProposer: address,
    proxyImplementation: address,
    proxyAdminSlot: address,
  }),
  configuration: z.strictObject({
    streamId: bytes32,
    genesisTimestamp: decimal,
    roundDuration: decimal,
    maxWorkPerRound: decimal,
    maxRoundsPerBatch: decimal,
    initialWorkPerThousandBlocks: decimal,
    targetBlocksPerActiveRound: decimal,
    difficultySmoothingRounds: decimal,
    blockUnitsPerBlock: decimal,
    guardian: address,
    reporter: address,
  }),
  core: z.strictObject({
    cumulativeWork: decimal,
    cumulativeBlockUnits: decimal,
    blockHeight: decimal,
    blockProgress: z
      .string()
      .regex(/^(?:0|[1-9][0-9]{0,8})$/)
      .meta({ description: 'Block units into the next block, out of 1,000,000,000' }),
    workPerThousandBlocks: decimal,
    settledThroughRound: decimal,
    authorizationNonce: decimal,
    paused: z.boolean(),
  }),
  implementation: z.strictObject({
    codeAddress: address,
    codeVersion: decimal,
    storageLayoutDigest: bytes32,
    runtimeHash: bytes32,
  }),
  governance: z
    .strictObject({ operationId: bytes32, operationKind: text, operationState: text })
    .nullable()
    .meta({ description: 'The latest timelock operation; null before the first' }),
  source: z.strictObject({ eventName: text, ...sourceMembers }),
  events: z.array(coreEvent).max(25),
});

export const coreResponse = z
  .discriminatedUnion('status', [available, defineUnavailable(1)])
  .meta({ id: 'CoreState', description: 'Core state at the safe block' });

export type CoreResponse = z.infer<typeof coreResponse>;

export function toCoreBody(view: CoreView | ChainUnavailable): CoreResponse {
  if (view.status === 'unavailable') return toUnavailableBody(1, view);
  const { core, governance, contracts } = view;
  const { configuration, implementation, source } = core;
  if (configuration === null || implementation === null || source === null) {
    throw new Error('core state is shown before the core is configured');
  }
  const { proxyAdminOwner, operatorProposer, proxyAdminSlot, operation } = governance;
  return {
    schemaVersion: 1,
    installationId: view.installationId,
    status: 'available',
    chain: toChainBriefBody(view.chain),
    identities: {
      core: contracts.core,
      proxyAdmin: contracts.proxyAdmin,
      proxyAdminOwner: requireKnown(proxyAdminOwner),
      operatorTimelock: contracts.operatorTimelock,
      operatorProposer: requireKnown(operatorProposer),
      proxyImplementation: implementation.codeAddress,
      proxyAdminSlot: requireKnown(proxyAdminSlot),
    },
    configuration: {
      streamId: configuration.streamId,
      genesisTimestamp: configuration.genesisTimestamp.toString(),
      roundDuration: configuration.roundDuration.toString(),
      maxWorkPerRound: configuration.maxWorkPerRound.toString(),
      maxRoundsPerBatch: configuration.maxRoundsPerBatch.toString(),
      initialWorkPerThousandBlocks: configuration.initialWorkPerThousandBlocks.toString(),
      targetBlocksPerActiveRound: configuration.targetBlocksPerActiveRound.toString(),
      difficultySmoothingRounds: configuration.difficultySmoothingRounds.toString(),
      blockUnitsPerBlock: configuration.blockUnitsPerBlock.toString(),
      guardian: configuration.guardian,
      reporter: configuration.reporter,
    },
    core: {
      cumulativeWork: core.cumulativeWork.toString(),
      cumulativeBlockUnits: core.cumulativeBlockUnits.toString(),
      blockHeight: (core.cumulativeBlockUnits / blockUnitsPerBlock).toString(),
      blockProgress: (core.cumulativeBlockUnits % blockUnitsPerBlock).toString(),
      workPerThousandBlocks: core.workPerThousandBlocks.toString(),
      settledThroughRound: core.settledThroughRound.toString(),
      authorizationNonce: core.authorizationNonce.toString(),
      paused: core.paused,
    },
    implementation: {
      codeAddress: implementation.codeAddress,
      codeVersion: implementation.codeVersion.toString(),
      storageLayoutDigest: implementation.storageLayoutDigest,
      runtimeHash: implementation.runtimeHash,
    },
    governance:
      operation === null
        ? null
        : {
            operationId: operation.id,
            operationKind: operation.kind,
            operationState: view.operationState ?? operation.state,
          },
    source: { eventName: source.eventName, ...withUnixTime(source.source) },
    events: core.events.map((event) => toEventBody(view.chain.chainId, event)),
  };
}

function toEventBody(chainId: bigint, { contract, address: at, name, args, source }: ChainEvent) {
  return {
    id: `chain:${chainId}:${at}:${source.transactionHash}:${source.logIndex}:${name}`,
    // Views list events of the core and of its governance alone.
    contractKind: contract as z.infer<typeof coreEvent>['contractKind'],
    contractAddress: at,
    eventName: name,
    ...withUnixTime(source),
    arguments: Object.entries(args).map(([argument, value]) => ({ name: argument, value: toText(value) })),
  };
}

function withUnixTime(source: ChainEvent['source']) {
  return { ...toEventSourceBody(source), blockTimestamp: String(Math.floor(source.blockTimestampMs / 1000)) };
}

/** Integers as decimals, addresses in lower case, lists with commas. */
function toText(value: unknown): string {
  if (Array.isArray(value)) return value.map(toText).join(',');
  const text = String(value);
  return text.startsWith('0x') ? text.toLowerCase() : text;
}

function requireKnown(address: string | null): string {
  if (address === null) throw new Error('core state is shown before its proxy has an admin');
  return address;
}
