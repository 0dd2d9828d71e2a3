import { z } from 'zod';
import { retainedStatesMax } from '../../actors/chain/fold/spanFoldState.ts';
import { chainRecords } from '../../actors/chain/records/chainRecords.ts';
import { ownerEventsRetained } from '../../actors/chain/rows/activityRows.ts';
import { settlementsRetainedMs } from '../../actors/chain/rows/settlementRows.ts';
import { proposersMax } from '../../actors/chain/spans/chainReads.ts';
import { coreEventsShown } from '../../actors/chain/state/coreState.ts';
import {
  recentCheckpointsShown,
  recentRoundsShown,
  recentSettlementsShown,
} from '../../actors/chain/state/settlements.ts';
import { installationsMax } from '../../actors/folds/places.ts';
import { installationRecords } from '../../actors/settlement/installationSnapshot.ts';
import { rememberedIdsMax, rememberedIdsMin, rememberedMs } from '../../actors/settlement/rememberedIds.ts';
import { closedRoundsMax, endedSubmissionsMax } from '../../actors/settlement/settlementActor.ts';
import { instancesMax } from '../../actors/settlement/settlementActors.ts';
import { settlementRecords } from '../../actors/settlement/settlementSnapshot.ts';
import { rememberedMarksMax } from '../../actors/wheel/acceptance.ts';
import { counterRecords } from '../../actors/wheel/counterRecords.ts';
import { pastDaysMax } from '../../actors/wheel/dayHistory.ts';
import { recentRoundsMax } from '../../actors/wheel/publicState.ts';
import { approvedEpochsMax, openIncidentsMax } from '../../machines/settlementEvents.ts';

const records = {
  MINER_COUNTER: counterRecords,
  MINER_PIPELINE: { ...settlementRecords, ...installationRecords },
  MINER_CHAIN: chainRecords,
};
type FoldedStream = keyof typeof records;

/** A record or list of a fold's state, by its path: its bound, and what happens at the bound. */
type KeptList = readonly [path: string, bound: string, beyond: string];

const count = (value: number) => value.toLocaleString('en-US');
const days = (valueMs: number) => `${valueMs / 86_400_000} days`;

const places = `${count(installationsMax)} installations by default (MINER_INSTALLATIONS_MAX), and the public one`;
const noPlace =
  'a new one replaces one that was silent for 30 days; without such a one its messages are too_many_installations';
const events = '2,000, then the newest 1,000 stay';
const gas = 'the gas of a block';
const evm = '4, the limit of the EVM';
const merged = 'removed with a merged donor';
const rows = 'rows of ClickHouse';

/** Every record and list that the fold of a stream keeps. A list without a number is bounded by the gas that was paid for it. */
export const keptLists: Readonly<Record<FoldedStream, readonly KeptList[]>> = {
  MINER_COUNTER: [
    ['installation', places, noPlace],
    ['places', 'one', ''],
    [
      'installation.acceptance.earlierBoots',
      `the newest, and ${rememberedMarksMax}`,
      'readings of a forgotten boot are out_of_order instead of duplicate',
    ],
    [
      'installation.acceptance.earlierEpochs',
      `the newest, and ${rememberedMarksMax}`,
      'no reading covers the work of a forgotten epoch, so none counts twice',
    ],
    [
      'recentRounds',
      `${recentRoundsMax} of the public installation`,
      'without its closure the projection says round_projection_gap',
    ],
    ['history', 'one', ''],
    ['day', `the open one, and ${pastDaysMax}`, 'the oldest is added to the sums of earlier days'],
    ['day.rounds', '144, for the newest 32 days', 'an older day keeps only its sums'],
    ['progress', 'one', ''],
    ['measurementEvent', events, rows],
  ],
  MINER_PIPELINE: [
    ['settlement', places, noPlace],
    ['places', 'one', ''],
    ['heard', 'one per installation', ''],
    [
      'settlement.machine.context.approvedEpochs',
      `${approvedEpochsMax} per installation`,
      'approving a forgotten one again restores it',
    ],
    [
      'settlement.machine.context.openIncidents',
      `${openIncidentsMax} per installation`,
      'further incidents are not_allowed until one is closed',
    ],
    [
      'closedRound',
      `${count(closedRoundsMax)} per installation`,
      'if the chain is that far behind, the projection says round_projection_gap',
    ],
    [
      'endedSubmission',
      `${count(endedSubmissionsMax)} per installation`,
      'the coverage of the statistics begins later',
    ],
    [
      'rememberedIds',
      `${count(rememberedIdsMin)} at least, all of ${days(rememberedMs)}, ${count(rememberedIdsMax)} at most; for ended submissions, runs and incidents, accepted messages and signers`,
      'a very late repetition would begin it again',
    ],
    ['rememberedIds.stepsMs', '128 per record', ''],
    ['signer', 'one per installation', ''],
    ['module', `${instancesMax} per installation`, 'further instances are too_many_instances'],
  ],
  MINER_CHAIN: [
    ['fold', 'one', ''],
    ['fold.reversible', count(retainedStatesMax), 'the oldest is forgotten'],
    [
      'fold.unsafe',
      'the newest 12 blocks and one span; 600 behind a block that cannot be applied',
      'blocks lose their events, then the oldest are dropped',
    ],
    ['fold.unsafe.events', gas, ''],
    ['fold.reads.proposers', 'a message of 256 KiB', 'longer messages are malformed'],
    ['fold.parts.logs', gas, 'the parts of another block replace them'],
    ['fold.parts.logs.topics', evm, ''],
    ['fold.parts.span.blocks', 'one block', ''],
    [
      'fold.parts.span.blocks.logs',
      'a message of 256 KiB, or a single log that NATS takes',
      'a larger log is truncated',
    ],
    ['fold.parts.span.blocks.logs.topics', evm, ''],
    ['state', 'one', 'only the newest safe state'],
    ['state.core.events', count(coreEventsShown), 'the oldest is forgotten'],
    ['state.governance.proposers', count(proposersMax), 'the oldest change is forgotten'],
    ['state.mining.configuration.levels', "the contract's levels", ''],
    ['state.mintedRounds', count(recentRoundsShown), 'the oldest is forgotten'],
    ['state.archive.settlements.completed', count(recentSettlementsShown), 'the oldest is forgotten'],
    [
      'settlement',
      `the newest ${days(settlementsRetainedMs)}, those without minting or not yet a row, and the last one`,
      `${rows}; their sums stay`,
    ],
    ['unprocessedRound', 'settled rounds since the last checkpoint', 'the next checkpoint mints them'],
    [
      'checkpoint',
      `the newest ${days(settlementsRetainedMs)}, those not yet a row, and always ${recentCheckpointsShown}`,
      `${rows}; their sums stay`,
    ],
    ['perWeight', 'one per UTC date with minted rounds', ''],
    ['activationPerWeight', 'one per round that activated weight', ''],
    ['pendingWeight', 'one per round with weight to activate', ''],
    ['metadata', 'one per token', merged],
    ['position', 'one per token', merged],
    ['position.segments', 'a few per level', ''],
    ['feedEvent', `${events}, and all above the oldest retained state`, rows],
    ['feedEvent.details.tokenIds', "the contract's claim limit", ''],
    ['owner', 'one per address that has acted', ''],
    ['owner.activity', `the newest ${ownerEventsRetained}, and those not yet a row`, rows],
    ['owner.activity.tokenIds', "the contract's claim limit", ''],
  ],
};

/** Paths of a fold's records, and of the lists in them, sorted. */
export function findKeptLists(stream: FoldedStream): string[] {
  const paths = Object.values(records[stream]).flatMap(({ kind, schema }) => [
    kind,
    ...listLists(schema, kind),
  ]);
  return [...new Set(paths)].toSorted();
}

/** Paths of the lists in a schema. */
function listLists(schema: z.core.$ZodType, place: string): string[] {
  if (schema instanceof z.ZodObject)
    return Object.entries(schema.shape).flatMap(([key, member]) => listLists(member, `${place}.${key}`));
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional)
    return listLists(schema.unwrap(), place);
  if (schema instanceof z.ZodUnion || schema instanceof z.ZodDiscriminatedUnion)
    return [...new Set(schema.options.flatMap((option) => listLists(option, place)))];
  if (schema instanceof z.ZodArray) return [place, ...listLists(schema.element, place)];
  if (schema instanceof z.ZodTuple) return schema.def.items.flatMap((item) => listLists(item, place));
  const isScalar = ['string', 'number', 'bigint', 'boolean', 'enum', 'literal', 'custom'].includes(
    schema._zod.def.type,
  );
  if (!isScalar)
    throw new Error(`${place} is of a type that this list does not know: ${schema._zod.def.type}`);
  return [];
}
