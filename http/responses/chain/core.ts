import { z } from 'zod';
import {
  blockUnitsPerBlock,
  type ChainEvent,
  type ChainUnavailable,
  type CoreView,
} from '../../../actors/views/chain/chainViewTypes.ts';
import { encodeView } from '../encodeView.ts';
import { availableStatus, bytes32, decimal, installationId, schemaVersion, text } from '../scalars.ts';
import {
  address,
  chainBrief,
  defineUnavailable,
  eventSourceMembers,
  toChainBriefBody,
  toUnavailableBody,
} from './chain.ts';

/** Core state shows times of blocks as Unix seconds (CONTRACT.md, Units). */
const sourceMembers = {
  ...eventSourceMembers,
  blockTimestamp: decimal.describe('Time of that block in Unix seconds'),
};

const coreEvent = z
  .strictObject({
    id: z.string().min(1).max(512).describe('Names the event'),
    contractKind: z
      .enum(['core', 'proxyAdmin', 'operatorTimelock'])
      .describe('Which of the contracts emitted it; the proxy’s address is the core’s'),
    contractAddress: address.describe('Address of that contract'),
    eventName: text.describe('Name of the event in the contract'),
    ...sourceMembers,
    arguments: z
      .array(
        z.strictObject({
          name: text.describe('Name of the argument'),
          value: z
            .string()
            .describe('Its value: integers as decimals, hexadecimal in lower case, lists with commas'),
        }),
      )
      .describe('Its arguments in the order of the contract'),
  })
  .meta({ id: 'CoreEvent' });

const available = z.strictObject({
  schemaVersion: schemaVersion(1),
  installationId: installationId.describe('The public installation'),
  status: availableStatus,
  chain: chainBrief.describe('Which chain, and how far it is read'),
  identities: z
    .strictObject({
      core: address.describe('The core: its proxy, which has this address for good'),
      proxyAdmin: address.describe('Contract that may replace the code behind the proxy'),
      proxyAdminOwner: address.describe('Who may tell it to'),
      operatorTimelock: address.describe('Contract through which operations are delayed'),
      operatorProposer: address.describe('Who may propose operations to it'),
      proxyImplementation: address.describe('Code behind the proxy'),
      proxyAdminSlot: address.describe('Administrator that the proxy itself names'),
    })
    .describe('Addresses of the core and of those that may change it'),
  configuration: z
    .strictObject({
      streamId: bytes32.describe('Names the stream of work that is settled'),
      genesisTimestamp: decimal.describe('Start of round 1 in Unix seconds'),
      roundDuration: decimal.describe('Length of a round in seconds'),
      maxWorkPerRound: decimal.describe('Most work that a round may have, in work units'),
      maxRoundsPerBatch: decimal.describe('Most rounds with work that a batch may have'),
      initialWorkPerThousandBlocks: decimal.describe(
        'Difficulty of the first batch: work units for 1,000 work blocks',
      ),
      targetBlocksPerActiveRound: decimal.describe(
        'Work blocks that an active round is meant to complete; difficulty follows from it',
      ),
      difficultySmoothingRounds: decimal.describe('Active rounds over which difficulty is smoothed'),
      blockUnitsPerBlock: decimal.describe('Block units of one work block'),
      guardian: address.describe('Who may pause the core'),
      reporter: address.describe('Who may settle'),
    })
    .describe('What the core was configured with'),
  core: z
    .strictObject({
      cumulativeWork: decimal.describe('All settled work, in work units'),
      cumulativeBlockUnits: decimal.describe('All settled block units; 1,000,000,000 are one work block'),
      blockHeight: decimal.describe('Completed work blocks'),
      blockProgress: z
        .string()
        .regex(/^(?:0|[1-9][0-9]{0,8})$/)
        .meta({
          description: 'Block units into the next block, out of 1,000,000,000',
          format: 'uint64-decimal',
        }),
      workPerThousandBlocks: decimal.describe(
        'Difficulty of the next batch: work units for 1,000 work blocks',
      ),
      settledThroughRound: decimal.describe('Last round that is settled'),
      authorizationNonce: decimal.describe('Nonce that the next authorization of the reporter has'),
      paused: z.boolean().describe('Whether the guardian has paused it: nothing is settled meanwhile'),
    })
    .describe('What it has recorded'),
  implementation: z
    .strictObject({
      codeAddress: address.describe('Its address'),
      codeVersion: decimal.describe('Version that it says it has'),
      storageLayoutDigest: bytes32.describe('Digest of its storage layout'),
      runtimeHash: bytes32.describe('Hash of its bytecode'),
    })
    .describe('The code behind the proxy'),
  governance: z
    .strictObject({
      operationId: bytes32.describe('Names the operation in the timelock'),
      operationKind: text.describe('What it does: `upgrade` or `call`'),
      operationState: text.describe(
        '`scheduled`, `ready` once its delay has passed at the safe block, `executed` or `cancelled`',
      ),
    })
    .nullable()
    .meta({ description: 'The latest timelock operation; null before the first' }),
  source: z
    .strictObject({ eventName: text.describe('Name of the event in the contract'), ...sourceMembers })
    .describe('The event that this state was last read from'),
  events: z
    .array(coreEvent)
    .max(25)
    .describe('The newest 25 of core, proxy admin and timelock, newest first'),
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
    configuration: encodeView(configuration),
    core: encodeView({
      cumulativeWork: core.cumulativeWork,
      cumulativeBlockUnits: core.cumulativeBlockUnits,
      blockHeight: core.cumulativeBlockUnits / blockUnitsPerBlock,
      blockProgress: core.cumulativeBlockUnits % blockUnitsPerBlock,
      workPerThousandBlocks: core.workPerThousandBlocks,
      settledThroughRound: core.settledThroughRound,
      authorizationNonce: core.authorizationNonce,
      paused: core.paused,
    }),
    implementation: encodeView(implementation),
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
  return { ...encodeView(source), blockTimestamp: String(Math.floor(source.blockTimestampMs / 1000)) };
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
