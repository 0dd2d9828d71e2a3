import { z } from 'zod';
import {
  activityKinds,
  type ChainUnavailable,
  type OwnerActivityView,
  type OwnerEvent,
} from '../../actors/views/chainViewTypes.ts';
import {
  address,
  availableMembers,
  defineUnavailableWithRelease,
  eventSourceMembers,
  parseBigint,
  toAvailableMembers,
  toEventSourceBody,
  toUnavailableBodyWithRelease,
} from './chain.ts';
import { cursor } from './observations.ts';
import { decimal } from './scalars.ts';

const activity = z
  .strictObject({
    id: z.string().min(1).max(512),
    kind: z.enum([...activityKinds, 'checkpoint']),
    tokenIds: z.array(decimal).max(32),
    amountBaseUnits: decimal.nullable(),
    from: address.nullable(),
    to: address.nullable(),
    level: z.int().min(1).nullable(),
    effectiveRound: decimal.nullable(),
    nextMergeBlock: decimal.nullable(),
    source: z.strictObject({ ...eventSourceMembers, confirmationStatus: z.literal('safe') }),
  })
  .meta({ id: 'OwnerEvent' });

const members = {
  ...availableMembers,
  owner: address,
  activity: z.array(activity).max(100).refine(isInOrder).meta({ description: 'Newest first; each ID once' }),
  total: decimal.optional(),
  nextCursor: cursor.nullable(),
};

type Activity = readonly z.infer<typeof activity>[];

/** IDs are unique, and events in the order of the chain, newest first (CONTRACT.md, Owner activity). */
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

function defineResponse<Version extends number>(version: Version) {
  return z.discriminatedUnion('status', [
    z.strictObject({ schemaVersion: z.literal(version), ...members }).refine(isSafe),
    defineUnavailableWithRelease(version),
  ]);
}

export const publicOwnerActivityResponse = defineResponse(2).meta({
  id: 'PublicOwnerActivity',
  description: 'Owner activity of the public route, newest first',
});
export const plainOwnerActivityResponse = defineResponse(1).meta({
  id: 'OwnerActivity',
  description: 'Owner activity of the plain route, newest first',
});

type View = OwnerActivityView | ChainUnavailable;

export function toPublicOwnerActivityBody(view: View): z.infer<typeof publicOwnerActivityResponse> {
  return view.status === 'unavailable'
    ? toUnavailableBodyWithRelease(2, view)
    : { schemaVersion: 2, ...toAvailableBody(view) };
}

export function toPlainOwnerActivityBody(view: View): z.infer<typeof plainOwnerActivityResponse> {
  return view.status === 'unavailable'
    ? toUnavailableBodyWithRelease(1, view)
    : { schemaVersion: 1, ...toAvailableBody(view) };
}

function toAvailableBody(view: OwnerActivityView) {
  return {
    ...toAvailableMembers(view),
    owner: view.owner,
    activity: view.activity.map((event) => toActivityBody(view.chain.chainId, event)),
    total: view.total.toString(),
    nextCursor: view.nextCursor,
  };
}

function toActivityBody(chainId: bigint, event: OwnerEvent): z.infer<typeof activity> {
  const { kind, source } = event;
  return {
    id: `chain:${chainId}:${event.address}:${source.transactionHash}:${source.logIndex}:${kind}`,
    kind,
    tokenIds: event.tokenIds.map((tokenId) => tokenId.toString()),
    amountBaseUnits: event.amountBaseUnits?.toString() ?? null,
    from: event.from,
    to: event.to,
    level: event.level,
    effectiveRound: event.effectiveRound?.toString() ?? null,
    nextMergeBlock: event.nextMergeBlock?.toString() ?? null,
    source: { ...toEventSourceBody(source), confirmationStatus: 'safe' },
  };
}
