import { type Address, zeroAddress } from '../../../../actors/schemas/hex.ts';
import { type EconomyState, expect, type Sale, type Transaction } from './contractState.ts';
import { mintPosition } from './miningContract.ts';
import { operator } from './settings.ts';

/** `Collection.sol`: the tokens and their sale, after the allowlist has ended. */

export function configureSale({ state: { collection }, emit }: Transaction, sale: Sale): void {
  collection.sale = sale;
  emit('collection', 'SaleConfigured', { ...sale });
}

export function mint(transaction: Transaction, owner: Address, quantity: bigint): void {
  const { collection } = transaction.state;
  const { sale } = collection;
  expect(!collection.paused, 'EnforcedPause');
  expect(sale !== null && transaction.timestamp >= sale.allowlistEnd, 'WrongPhase');
  expect(collection.publicMinted + quantity <= (sale?.publicAllocation ?? 0n), 'SoldOut');
  collection.publicMinted += quantity;
  const { publicMinted } = collection;
  transaction.emit('collection', 'PublicMinted', { owner, quantity, publicMinted });
  mintTokens(transaction, owner, quantity);
}

export function mintReserve(transaction: Transaction, owner: Address, quantity: bigint): void {
  const { collection } = transaction.state;
  expect(collection.reserveMinted + quantity <= (collection.sale?.protocolReserve ?? 0n), 'SoldOut');
  collection.reserveMinted += quantity;
  const { reserveMinted } = collection;
  transaction.emit('collection', 'ReserveMinted', { owner, quantity, reserveMinted });
  mintTokens(transaction, owner, quantity);
}

function mintTokens(transaction: Transaction, owner: Address, quantity: bigint) {
  const { collection } = transaction.state;
  const last = collection.publicMinted + collection.reserveMinted;
  for (let tokenId = last - quantity + 1n; tokenId <= last; tokenId++) {
    collection.owners.set(tokenId, owner);
    transaction.emit('collection', 'Transfer', { from: zeroAddress, to: owner, tokenId });
    mintPosition(transaction, owner, tokenId);
    publishMetadata(transaction, tokenId);
  }
}

export function transfer(
  { state: { collection }, emit }: Transaction,
  from: Address,
  to: Address,
  tokenId: bigint,
): void {
  expect(collection.owners.get(tokenId) === from, 'ERC721IncorrectOwner');
  collection.owners.set(tokenId, to);
  emit('collection', 'Transfer', { from, to, tokenId });
}

export function burn({ state: { collection }, emit }: Transaction, tokenId: bigint): void {
  const from = collection.owners.get(tokenId);
  collection.owners.delete(tokenId);
  emit('collection', 'Transfer', { from, to: zeroAddress, tokenId });
}

export function pauseCollection({ state: { collection }, emit }: Transaction): void {
  expect(!collection.paused, 'EnforcedPause');
  collection.paused = true;
  emit('collection', 'Paused', { account: operator });
}

export function unpauseCollection({ state: { collection }, emit }: Transaction): void {
  expect(collection.paused, 'ExpectedPause');
  collection.paused = false;
  emit('collection', 'Unpaused', { account: operator });
}

export function advanceMetadataEpoch(
  { state: { collection }, emit }: Transaction,
  cardBaseUrl: string,
): void {
  collection.cardBaseUrl = cardBaseUrl;
  collection.metadataEpoch++;
  emit('collection', 'MetadataEpochAdvanced', { epoch: collection.metadataEpoch });
}

/** @param filler makes the metadata longer; no view shows it. */
export function publishMetadata({ state, emit }: Transaction, tokenId: bigint, filler = ''): void {
  expect(state.collection.owners.has(tokenId), 'ERC721NonexistentToken');
  emit('collection', 'MetadataPublished', {
    tokenId,
    epoch: state.collection.metadataEpoch,
    uri: formatTokenUri(state, tokenId, filler),
  });
}

function formatTokenUri({ collection, mining }: EconomyState, tokenId: bigint, filler: string): string {
  const position = mining.positions.get(tokenId);
  if (position === undefined) throw new Error(`there is no position ${tokenId}`);
  const { level, targetWeight } = position;
  const { metadataEpoch, cardBaseUrl } = collection;
  const card = cardBaseUrl === '' ? '' : `,"card_image":"${cardBaseUrl}${tokenId}"`;
  const padding = filler === '' ? '' : `,"filler":"${filler}"`;
  const json = `{"name":"Miner #${tokenId}","description":"A miner of the wheel. It earns with its weight in every round that completes a work block.","epoch":${metadataEpoch},"attributes":[{"trait_type":"Level","value":"${level}"},{"trait_type":"Weight","value":"${targetWeight}"}]${card}${padding},"image":"data:image/svg+xml;base64,${encode(drawCard(tokenId, level))}"}`;
  return `data:application/json;base64,${encode(json)}`;
}

function drawCard(tokenId: bigint, level: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 200"><rect width="200" height="200" fill="#1b2430"/><circle cx="100" cy="90" r="60" fill="none" stroke="#f2b134" stroke-width="8"/><text x="100" y="96" text-anchor="middle" fill="#fff" font-size="20">${tokenId}</text><text x="100" y="180" text-anchor="middle" fill="#9fb3c8" font-size="14">level ${level}</text></svg>`;
}

const encode = (text: string) => Buffer.from(text).toString('base64');
