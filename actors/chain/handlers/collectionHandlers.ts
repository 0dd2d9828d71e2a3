import { zeroAddress } from '../../schemas/hex.ts';
import type { EventOf } from '../spans/chainEvent.ts';
import type { ChainState } from '../state/chainState.ts';
import { type EventHandlers, ignoreEvent } from './eventHandlers.ts';
import { absentMembers, requirePosition, withActivity, withoutToken, withToken } from './ownerRecords.ts';

export const collectionHandlers: EventHandlers<'collection'> = {
  SaleConfigured: (state, { args }) => ({ ...state, collection: { ...state.collection, sale: args } }),
  SaleClosed: (state) => ({ ...state, collection: { ...state.collection, isClosed: true } }),
  Paused: (state) => ({ ...state, collection: { ...state.collection, paused: true } }),
  Unpaused: (state) => ({ ...state, collection: { ...state.collection, paused: false } }),
  PublicMinted: (state, { args }) => ({
    ...state,
    collection: { ...state.collection, publicMinted: args.publicMinted },
  }),
  ReserveMinted: (state, { args }) => ({
    ...state,
    collection: { ...state.collection, reserveMinted: args.reserveMinted },
  }),
  MetadataEpochAdvanced: (state, { args }) => ({
    ...state,
    collection: { ...state.collection, metadataEpoch: args.epoch },
  }),
  MetadataPublished: (state, { args }) => {
    const { tokenId, epoch, uri } = args;
    const metadata = state.collection.metadata.set(Number(tokenId), { epoch, uri });
    return { ...state, collection: { ...state.collection, metadata } };
  },
  Transfer: transferToken,
  Approval: ignoreEvent,
  ApprovalForAll: ignoreEvent,
  MiningBound: ignoreEvent,
  OwnershipTransferred: ignoreEvent,
};

function transferToken(
  state: ChainState,
  { args, address, source }: EventOf<'collection', 'Transfer'>,
): ChainState {
  const { from, to } = args;
  // Mints and merges have events of their own.
  if (from === zeroAddress || to === zeroAddress) return state;
  const tokenId = Number(args.tokenId);
  const position = requirePosition(state, tokenId);
  if (position.owner !== from) throw new Error(`token ${tokenId} does not belong to ${from}`);
  const moved = withToken(withoutToken(state, from, tokenId), to, tokenId);
  const minerPositions = moved.minerPositions.set(tokenId, {
    ...position,
    owner: to,
    ownershipStartedAtMs: from === to ? position.ownershipStartedAtMs : source.blockTimestampMs,
  });
  return withActivity({ ...moved, minerPositions }, from === to ? [to] : [from, to], {
    ...absentMembers,
    kind: 'transfer',
    address,
    tokenIds: [BigInt(tokenId)],
    from,
    to,
    source,
  });
}
