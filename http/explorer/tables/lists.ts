import type { Bodies } from '../page.ts';
import type { DataColumn } from './dataTable.ts';

type Available<Name extends keyof Bodies> = Extract<Bodies[Name], { readonly status: 'available' }>;
type Round = Available<'rounds'>['rounds'][number];
type Batch = Available<'batches'>['batches'][number];
type Checkpoint = Available<'checkpoints'>['checkpoints'][number];
type Action = Available<'activity'>['activity'][number];

const toSeconds = (iso: string) => iso.replace(/\.\d+Z$/, 'Z');
const addOne = (round: string) => String(BigInt(round) + 1n);

const chainColumns: readonly DataColumn<Batch | Checkpoint>[] = [
  { name: 'ethereum_block', value: ({ source }) => source.blockNumber },
  { name: 'transaction', value: ({ source }) => source.transactionHash, isText: true },
];

export const roundColumns: readonly DataColumn<Round>[] = [
  { name: 'from_utc', value: ({ startAt }) => toSeconds(startAt), isText: true },
  { name: 'to_utc', value: ({ endAt }) => toSeconds(endAt), isText: true },
  { name: 'round', value: ({ roundId }) => roundId },
  { name: 'state', value: ({ state }) => state, isText: true },
  {
    name: 'settled_at_utc',
    value: ({ settlement }) => settlement && toSeconds(settlement.occurredAt),
    isText: true,
  },
  {
    name: 'settlement_transaction',
    value: ({ settlement }) => settlement?.source.transactionHash ?? null,
    isText: true,
  },
  {
    name: 'minted_at_utc',
    value: ({ checkpoint }) => checkpoint && toSeconds(checkpoint.occurredAt),
    isText: true,
  },
  {
    name: 'checkpoint_transaction',
    value: ({ checkpoint }) => checkpoint?.source.transactionHash ?? null,
    isText: true,
  },
];

export const batchColumns: readonly DataColumn<Batch>[] = [
  { name: 'settled_at_utc', value: ({ occurredAt }) => toSeconds(occurredAt), isText: true },
  { name: 'first_round', value: ({ payload }) => addOne(payload.previousSettledThroughRound) },
  { name: 'last_round', value: ({ payload }) => payload.settledThroughRound },
  { name: 'rounds_with_work', value: ({ payload }) => payload.activeRoundCount },
  { name: 'work_units', value: ({ payload }) => payload.workAdded },
  { name: 'completed_work_blocks', value: ({ payload }) => payload.completedBlockCount },
  { name: 'all_work_units', value: ({ payload }) => payload.cumulativeWork },
  { name: 'all_completed_work_blocks', value: ({ payload }) => payload.blockHeight },
  ...chainColumns,
];

export const checkpointColumns: readonly DataColumn<Checkpoint>[] = [
  { name: 'minted_at_utc', value: ({ occurredAt }) => toSeconds(occurredAt), isText: true },
  { name: 'first_round', value: ({ payload }) => addOne(payload.afterRound) },
  { name: 'last_round', value: ({ payload }) => payload.throughRound },
  { name: 'completed_work_blocks', value: ({ payload }) => payload.completedBlockCount },
  { name: 'minted_base_units', value: ({ payload }) => payload.amountBaseUnits },
  { name: 'token', value: ({ payload }) => payload.asset.symbol, isText: true },
  ...chainColumns,
];

export const activityColumns: readonly DataColumn<Action>[] = [
  { name: 'at_utc', value: ({ source }) => toSeconds(source.blockTimestamp), isText: true },
  { name: 'action', value: ({ kind }) => kind, isText: true },
  { name: 'token_ids', value: ({ tokenIds }) => tokenIds.join(' '), isText: true },
  { name: 'claimed_base_units', value: ({ amountBaseUnits }) => amountBaseUnits },
  { name: 'from', value: ({ from }) => from, isText: true },
  { name: 'to', value: ({ to }) => to, isText: true },
  { name: 'level', value: ({ level }) => level },
  { name: 'ethereum_block', value: ({ source }) => source.blockNumber },
  { name: 'transaction', value: ({ source }) => source.transactionHash, isText: true },
];
