import { z } from 'zod';
import type { ChainEvent } from '../../../actors/chain/spans/chainEvent.ts';
import { blockUnitsPerBlock, countWholeBlocks } from '../../../actors/chain/state/blockUnits.ts';
import { coreEventsShown } from '../../../actors/chain/state/coreState.ts';
import type { CoreView } from '../../../actors/views/chain/coreViews.ts';
import type { ChainUnavailable } from '../../../actors/views/chain/shownStates.ts';
import { encodeView } from '../encodeView.ts';
import {
  availableStatus,
  bytes32,
  decimal,
  defineObject,
  installationId,
  schemaVersion,
  text,
} from '../scalars.ts';
import {
  address,
  chainBrief,
  defineUnavailable,
  eventSourceMembers,
  toChainBriefBody,
  toUnavailableBody,
} from './chain.ts';

/** Core state shows block times as Unix seconds (CONTRACT.md, Units). */
const sourceMembers = {
  ...eventSourceMembers,
  blockTimestamp: decimal.describe('Time of the event’s block, in Unix seconds'),
};

const coreEvent = defineObject('CoreEvent', {
  id: z.string().min(1).max(512).describe('ID of the event'),
  contractKind: z
    .enum(['core', 'proxyAdmin', 'operatorTimelock'])
    .meta({ id: 'CoreEventContractKind' })
    .describe('Contract that emitted the event; the core’s address is its proxy'),
  contractAddress: address.describe('Address of that contract'),
  eventName: text.describe('Name of the event in the contract'),
  ...sourceMembers,
  arguments: z
    .array(
      defineObject('CoreEventArgument', {
        name: text.describe('Name of the argument'),
        value: z
          .string()
          .describe(
            'Value of the argument: a decimal, lower-case hexadecimal, or a list separated by commas',
          ),
      }),
    )
    .describe('Arguments, in the contract’s order'),
});

const available = defineObject('CoreStateAvailable', {
  schemaVersion: schemaVersion(1),
  installationId: installationId.describe('The public installation'),
  status: availableStatus,
  chain: chainBrief.describe('The chain, and how far it was read'),
  identities: defineObject('CoreStateIdentities', {
    core: address.describe('Proxy of the core, whose address never changes'),
    proxyAdmin: address.describe('Contract that may replace the proxy’s implementation'),
    proxyAdminOwner: address.describe('Owner of the proxy admin'),
    operatorTimelock: address.describe('Contract that delays operations'),
    operatorProposer: address.describe('Account that may propose operations to the timelock'),
    proxyImplementation: address.describe('Implementation behind the proxy'),
    proxyAdminSlot: address.describe('Admin that the proxy stores'),
  }).describe('Addresses of the core, and of the contracts and accounts that may change it'),
  configuration: defineObject('CoreStateConfiguration', {
    streamId: bytes32.describe('ID of the stream of work that is settled'),
    genesisTimestamp: decimal.describe('Start of round 1 in Unix seconds'),
    roundDuration: decimal.describe('Length of a round in seconds'),
    maxWorkPerRound: decimal.describe('Maximum work of a round, in work units'),
    maxRoundsPerBatch: decimal.describe('Maximum number of rounds with work in a batch'),
    initialWorkPerThousandBlocks: decimal.describe(
      'Difficulty of the first batch: work units for 1,000 work blocks',
    ),
    targetBlocksPerActiveRound: decimal.describe(
      'Work blocks that an active round should complete; the difficulty adapts to it',
    ),
    difficultySmoothingRounds: decimal.describe(
      'Number of active rounds over which the difficulty is smoothed',
    ),
    blockUnitsPerBlock: decimal.describe('Block units of one work block'),
    guardian: address.describe('Account that may pause the core'),
    reporter: address.describe('Account that may settle'),
  }).describe('Configuration of the core'),
  core: defineObject('CoreStateCore', {
    cumulativeWork: decimal.describe('All settled work, in work units'),
    cumulativeBlockUnits: decimal.describe('All settled block units; a work block has 1,000,000,000'),
    blockHeight: decimal.describe('Number of completed work blocks'),
    blockProgress: z
      .string()
      .regex(/^(?:0|[1-9][0-9]{0,8})$/)
      .meta({
        description: 'Block units towards the next work block, below 1,000,000,000',
        format: 'uint64-decimal',
      }),
    workPerThousandBlocks: decimal.describe('Difficulty of the next batch: work units for 1,000 work blocks'),
    settledThroughRound: decimal.describe('Last settled round'),
    authorizationNonce: decimal.describe('Nonce of the reporter’s next authorization'),
    paused: z.boolean().describe('Whether the guardian has paused the core, so that nothing settles'),
  }).describe('State of the core'),
  implementation: defineObject('CoreStateImplementation', {
    codeAddress: address.describe('Address of the implementation'),
    codeVersion: decimal.describe('Version that the implementation reports'),
    storageLayoutDigest: bytes32.describe('Digest of its storage layout'),
    runtimeHash: bytes32.describe('Hash of its bytecode'),
  }).describe('The implementation behind the proxy'),
  governance: defineObject('CoreStateGovernance', {
    operationId: bytes32.describe('ID of the operation in the timelock'),
    operationKind: text.describe('`upgrade` or `call`'),
    operationState: text.describe(
      '`scheduled`, `ready` once its delay has passed at the safe block, `executed` or `cancelled`',
    ),
  })
    .nullable()
    .meta({ description: 'The latest timelock operation; null before the first' }),
  source: defineObject('CoreStateSource', {
    eventName: text.describe('Name of the event in the contract'),
    ...sourceMembers,
  }).describe('The last event from which this state was read'),
  events: z
    .array(coreEvent)
    .max(coreEventsShown)
    .describe(`The newest ${coreEventsShown} of core, proxy admin and timelock, newest first`),
});

export const coreResponse = z
  .discriminatedUnion('status', [available, defineUnavailable(1).meta({ id: 'CoreStateUnavailable' })])
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
      proxyAdminOwner,
      operatorTimelock: contracts.operatorTimelock,
      operatorProposer,
      proxyImplementation: implementation.codeAddress,
      proxyAdminSlot,
    },
    configuration: encodeView(configuration),
    core: encodeView({
      cumulativeWork: core.cumulativeWork,
      cumulativeBlockUnits: core.cumulativeBlockUnits,
      blockHeight: countWholeBlocks(core.cumulativeBlockUnits),
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
    // Views list only events of the core and its governance.
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

/** Formats an argument: integers as decimals, addresses in lower case, lists separated by commas. */
function toText(value: unknown): string {
  if (Array.isArray(value)) return value.map(toText).join(',');
  const text = String(value);
  return text.startsWith('0x') ? text.toLowerCase() : text;
}
