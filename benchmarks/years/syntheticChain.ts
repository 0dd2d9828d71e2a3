import { createHash } from 'node:crypto';
import { Map as ImmutableMap, List } from 'immutable';
import type { Hash } from 'viem';
import { emptySpanFoldState, type SpanFoldState } from '../../actors/chain/fold/spanFoldState.ts';
import { ownerEventsRetained } from '../../actors/chain/rows/activityRows.ts';
import { type ChainState, emptyChainState } from '../../actors/chain/state/chainState.ts';
import type { MinerPosition } from '../../actors/chain/state/miningState.ts';
import type { LoggedActivity, OwnerEvent, OwnerState } from '../../actors/chain/state/ownerState.ts';
import { withPastOwner } from '../../actors/chain/state/pastOwners.ts';
import type { EventSource } from '../../actors/events/eventSchemas.ts';
import { type Address, toAddress, toBlockHash, toTransactionHash } from '../../actors/schemas/hex.ts';
import { requireValue } from '../../machines/requireValue.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { ownerActivity } from '../../storage/tables/ownerActivity.ts';

export interface SyntheticSize {
  readonly owners: number;
}

/** Run of the rows. */
export const syntheticRun = 'synthetic';
/** As many as the collection has tokens: these owners have one each. */
export const holdersMax = 9_999;
/** Events of an owner who holds a position, and of one who has given it away. */
export const eventCounts = { holder: 40, past: 4 };
const genesisMs = Date.UTC(2026, 0, 1);
const blockMs = 12_000;

/** Generates the state of a chain after years, since folding it would take too long. */
export function createSyntheticChain({ owners: count }: SyntheticSize): SpanFoldState {
  const block = { number: 20_000_000n, hash: toBlockHash(deriveHash('block', 0)), timestampMs: genesisMs };
  const positions: [number, MinerPosition][] = [];
  const owners: [Address, OwnerState][] = [];
  const past = ImmutableMap<string, string>().asMutable();
  for (let index = 0; index < count; index++) {
    const address = deriveAddress(index);
    const paidBaseUnits = 10n ** 15n * BigInt(index);
    if (index >= holdersMax) withPastOwner(past, address, { paidBaseUnits, activityCount: eventCounts.past });
    else {
      positions.push([index, buildPosition(index, address)]);
      const activity = List(buildNewest(address, index));
      owners.push([
        address,
        { tokenIds: [index], paidBaseUnits, activityCount: eventCounts.holder, activity },
      ]);
    }
  }
  const state: ChainState = {
    ...emptyChainState(block),
    position: count * eventCounts.holder,
    minerPositions: ImmutableMap(positions),
    owners: ImmutableMap(owners),
    pastOwners: past.asImmutable(),
    activityProgress: { rowsThroughBlock: block.number, pending: List() },
  };
  return { ...emptySpanFoldState, head: block, rootHash: toBlockHash(deriveHash('root', 0)), safe: [state] };
}

function buildNewest(address: Address, index: number): OwnerEvent[] {
  const first = index * eventCounts.holder + eventCounts.holder - ownerEventsRetained;
  return Array.from({ length: ownerEventsRetained }, (_, at) => buildEvent(address, index, first + at));
}

/** Stores the rows of the same events, without columns that no page needs. */
export async function fillActivity(database: Database, { owners }: SyntheticSize): Promise<void> {
  await database.command(
    `INSERT INTO ${ownerActivity.name}
       (run, owner, event_number, kind, contract_address, token_ids, block_number, block_hash, transaction_hash, position)
     SELECT '${syntheticRun}', concat('0x', substring(lower(hex(SHA256(concat('address ', toString(number))))), 1, 40)),
       event_number, 'claim', concat('0x', repeat('1', 40)), [toUInt256(number)], 1000 + event,
       concat('0x', lower(hex(SHA256(concat('block ', toString(event)))))),
       concat('0x', lower(hex(SHA256(concat('transaction ', toString(event)))))), event + 1
     FROM (SELECT number, arrayJoin(range(if(number < ${holdersMax}, ${eventCounts.holder}, ${eventCounts.past}))) AS event_number,
       number * ${eventCounts.holder} + event_number AS event FROM numbers(${owners}))`,
  );
}

/** The state after a block in which `count` owners claimed. */
export function applyClaims(before: ChainState, count: number): ChainState {
  const number = before.block.number + 1n;
  const block = { number, hash: toBlockHash(deriveHash('block', Number(number))), timestampMs: genesisMs };
  let { minerPositions, owners } = before;
  const logged: LoggedActivity[] = [];
  for (let claim = 0; claim < count; claim++) {
    const tokenId = (Number(number) * 7_919 + claim * 104_729) % minerPositions.size;
    const position = minerPositions.get(tokenId);
    if (position === undefined) throw new Error(`token ${tokenId} has no position`);
    const owner = requireValue(owners.get(position.owner), 'the owner of a position');
    minerPositions = minerPositions.set(tokenId, { ...position, paidBaseUnits: position.paidBaseUnits + 1n });
    const event = buildEvent(position.owner, tokenId, Number(number) * count + claim);
    const { activityCount, activity } = owner;
    const claimed = { ...owner, activityCount: activityCount + 1, activity: activity.push(event) };
    owners = owners.set(position.owner, claimed);
    logged.push({
      blockNumber: event.source.blockNumber,
      owner: position.owner,
      eventNumber: activityCount,
    });
  }
  const activityProgress = {
    ...before.activityProgress,
    pending: before.activityProgress.pending.push(...logged),
  };
  return { ...before, block, minerPositions, owners, activityProgress };
}

function buildPosition(tokenId: number, owner: Address): MinerPosition {
  return {
    tokenId,
    owner,
    ownershipStartedAtMs: genesisMs + tokenId * blockMs,
    level: 2,
    pending: null,
    nextMergeBlock: BigInt(1_000 + tokenId),
    segments: [
      { fromPerWeight: 10n ** 24n, throughPerWeight: 2n * 10n ** 24n, weight: 100n },
      { fromPerWeight: 2n * 10n ** 24n, throughPerWeight: null, weight: 220n },
    ],
    paidBaseUnits: 10n ** 18n * BigInt(tokenId),
  };
}

function buildEvent(owner: Address, tokenId: number, event: number): OwnerEvent {
  return {
    kind: 'claim',
    address: deriveAddress(1_000_000_000),
    tokenIds: [BigInt(tokenId)],
    amountBaseUnits: 10n ** 15n * BigInt(event),
    from: null,
    to: owner,
    level: null,
    effectiveRound: null,
    nextMergeBlock: null,
    source: buildSource(event),
    position: event + 1,
  };
}

function buildSource(event: number): EventSource {
  return {
    blockNumber: BigInt(1_000 + event),
    blockHash: toBlockHash(deriveHash('block', event)),
    blockTimestampMs: genesisMs + event * blockMs,
    transactionHash: toTransactionHash(deriveHash('transaction', event)),
    transactionIndex: event % 200,
    logIndex: event % 500,
  };
}

export function deriveAddress(index: number): Address {
  return toAddress(deriveHash('address', index).slice(0, 42));
}

function deriveHash(what: string, index: number): Hash {
  return `0x${createHash('sha256').update(`${what} ${index}`).digest('hex')}`;
}
