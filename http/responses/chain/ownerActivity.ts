import { z } from 'zod';
import {
  activityKinds,
  type ChainUnavailable,
  type OwnerActivityView,
  type OwnerEvent,
} from '../../../actors/views/chain/chainViewTypes.ts';
import { encodeView } from '../encodeView.ts';
import { cursor } from '../observations.ts';
import { decimal, schemaVersion } from '../scalars.ts';
import {
  address,
  availableMembers,
  defineUnavailableWithRelease,
  eventSourceMembers,
  parseBigint,
  toVariant,
} from './chain.ts';

const activity = z
  .strictObject({
    id: z.string().min(1).max(512).describe('Names the event'),
    kind: z
      .enum([...activityKinds, 'checkpoint'])
      .describe('What the owner did; `checkpoint` is of the schema alone'),
    tokenIds: z.array(decimal).max(32).describe('Tokens that it was done with'),
    amountBaseUnits: decimal
      .nullable()
      .describe('Reward that was claimed, in base units; null for other kinds'),
    from: address.nullable().describe('Owner before a transfer; null for other kinds'),
    to: address.nullable().describe('Owner after a mint or transfer, or who claimed; null for a merge'),
    level: z.int().min(1).nullable().describe('Level after a mint or merge; null for other kinds'),
    effectiveRound: decimal
      .nullable()
      .describe('Round from which a change of weight counts; null where there is none'),
    nextMergeBlock: decimal
      .nullable()
      .describe('Work block from which the token can be merged; null where there is none'),
    source: z
      .strictObject({
        ...eventSourceMembers,
        confirmationStatus: z.literal('safe').describe('The block has 12 confirmations'),
      })
      .describe('Where on the chain it is recorded'),
  })
  .meta({ id: 'OwnerEvent' });

const members = {
  ...availableMembers,
  owner: address.describe('Address of the owner'),
  activity: z.array(activity).max(100).refine(isInOrder).meta({ description: 'Newest first; each ID once' }),
  total: decimal.optional().describe('All safe events of the owner'),
  nextCursor: cursor.nullable().describe('Where the next page begins; null on the last one'),
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
    z.strictObject({ schemaVersion: schemaVersion(version), ...members }).refine(isSafe),
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

function toActivityBody(chainId: bigint, event: OwnerEvent): z.infer<typeof activity> {
  const { address: contract, kind, tokenIds, source, position: _position, ...details } = event;
  return {
    id: `chain:${chainId}:${contract}:${source.transactionHash}:${source.logIndex}:${kind}`,
    kind,
    tokenIds: tokenIds.map(String),
    ...encodeView(details),
    source: { ...encodeView(source), confirmationStatus: 'safe' },
  };
}
