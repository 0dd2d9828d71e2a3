import { z } from 'zod';
import { activityKinds, type OwnerEvent } from '../../../actors/chain/state/ownerState.ts';
import type { OwnerActivityView } from '../../../actors/views/chain/ownerViews.ts';
import type { ChainUnavailable } from '../../../actors/views/chain/shownStates.ts';
import { encodeView } from '../encodeView.ts';
import { cursor, decimal, defineObject, pageMax, schemaVersion } from '../scalars.ts';
import {
  address,
  availableMembers,
  type BodyMeta,
  defineUnavailableWithRelease,
  eventSourceMembers,
  parseBigint,
  toVariant,
} from './chain.ts';

export const activity = defineObject('OwnerEvent', {
  id: z.string().min(1).max(512).describe('ID of the event'),
  kind: z
    .enum([...activityKinds, 'checkpoint'])
    .meta({ id: 'OwnerEventKind' })
    .describe('Action of the owner; `checkpoint` is never returned'),
  tokenIds: z.array(decimal).max(32).describe('Tokens of the action'),
  amountBaseUnits: decimal.nullable().describe('Claimed reward, in base units; null for other kinds'),
  from: address.nullable().describe('Owner before a transfer; null for other kinds'),
  to: address.nullable().describe('Owner after a mint or transfer, or owner who claimed; null for a merge'),
  level: z.int().min(1).nullable().describe('Level after a mint or merge; null for other kinds'),
  effectiveRound: decimal
    .nullable()
    .describe('Round in which the weight change takes effect; null if the weight does not change'),
  nextMergeBlock: decimal
    .nullable()
    .describe('Work block from which the token can be merged; null if the action does not set it'),
  source: defineObject('OwnerEventSource', {
    ...eventSourceMembers,
    confirmationStatus: z.literal('safe').describe('The block has 12 confirmations'),
  }).describe('Place of the event on the chain'),
});

const members = {
  ...availableMembers,
  owner: address.describe('Address of the owner'),
  activity: z
    .array(activity)
    .max(pageMax)
    .refine(isInOrder)
    .meta({ description: 'Newest first; each ID once' }),
  total: decimal.optional().describe('Number of all safe events of the owner'),
  nextCursor: cursor.nullable().describe('Requests the next page; null on the last page'),
};

type Activity = readonly z.infer<typeof activity>[];

/** Whether IDs are unique, and events in the chain's order, newest first (CONTRACT.md, Owner activity). */
function isInOrder(events: Activity): boolean {
  const isUnique = new Set(events.map(({ id }) => id)).size === events.length;
  return (
    isUnique &&
    events.every((event, index) => index === 0 || isNewer(events[index - 1] as Activity[0], event))
  );
}

function isNewer({ source: newer }: Activity[0], { source: older }: Activity[0]): boolean {
  if (newer.blockNumber !== older.blockNumber)
    return parseBigint(newer.blockNumber) > parseBigint(older.blockNumber);
  if (newer.transactionIndex !== older.transactionIndex)
    return newer.transactionIndex > older.transactionIndex;
  return newer.logIndex > older.logIndex;
}

function isSafe({
  activity: [newest],
  chain,
}: {
  activity: Activity;
  chain: { safeThroughBlock: string };
}): boolean {
  return (
    newest === undefined || parseBigint(newest.source.blockNumber) <= parseBigint(chain.safeThroughBlock)
  );
}

function defineResponse<Version extends number>(version: Version, { id, description }: BodyMeta) {
  return z
    .discriminatedUnion('status', [
      z
        .strictObject({ schemaVersion: schemaVersion(version), ...members })
        .refine(isSafe)
        .meta({ id: `${id}Available` }),
      defineUnavailableWithRelease(version).meta({ id: `${id}Unavailable` }),
    ])
    .meta({ id, description });
}

export const publicOwnerActivityResponse = defineResponse(2, {
  id: 'PublicOwnerActivity',
  description: 'Owner activity of the public route, newest first',
});
export const plainOwnerActivityResponse = defineResponse(1, {
  id: 'OwnerActivity',
  description: 'Owner activity of the plain route, newest first',
});

export function toOwnerActivityBody<Version extends number>(
  version: Version,
  view: OwnerActivityView | ChainUnavailable,
) {
  return toVariant(version, view, ({ owner, activity: events, chain, total, nextCursor }) => ({
    owner,
    activity: events.map((event) => toActivityBody(chain.chainId, event)),
    total: total.toString(),
    nextCursor,
  }));
}

export function toActivityBody(chainId: bigint, event: OwnerEvent): z.infer<typeof activity> {
  const { address: contract, kind, tokenIds, source, position: _position, ...details } = event;
  return {
    id: `chain:${chainId}:${contract}:${source.transactionHash}:${source.logIndex}:${kind}`,
    kind,
    tokenIds: tokenIds.map(String),
    ...encodeView(details),
    source: { ...encodeView(source), confirmationStatus: 'safe' },
  };
}
