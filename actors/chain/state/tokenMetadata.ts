import { z } from 'zod';
import { memoizeByIdentity } from '../../caching/memoizeByIdentity.ts';
import { replaceHalfSurrogates } from '../../messages/halfSurrogates.ts';
import type { ChainState } from './chainState.ts';
import type { TokenMetadata } from './collectionState.ts';

const jsonPrefix = 'data:application/json;base64,';

/** An SVG image as a base64 data URI (CONTRACT.md, Token metadata). */
export const imageDataUri = z
  .string()
  .regex(/^data:image\/svg\+xml;base64,[A-Za-z0-9+/]+={0,2}$/)
  .max(240_000);
/** An HTTPS URL (CONTRACT.md, Token metadata). */
export const cardImageUrl = z
  .string()
  .regex(/^https:\/\/[^\s/?#]+(?:[/?#]\S*)?$/)
  .max(2048);

/** Limits of CONTRACT.md, Token metadata. Other metadata is not shown. */
const tokenMetadata = z.object({
  name: z.string().min(1).max(128),
  description: z.string().min(1).max(2048),
  attributes: z
    .array(z.object({ trait_type: z.string().min(1).max(64), value: z.string().min(1).max(128) }))
    .max(32),
  image: imageDataUri.optional(),
  card_image: cardImageUrl.optional(),
});

interface ShownMetadata {
  readonly name: string;
  readonly description: string;
  readonly attributes: readonly { readonly traitType: string; readonly value: string }[];
  readonly imageDataUri: string | null;
  readonly cardImageUrl: string | null;
}

/** A token's metadata; null unless it belongs to the collection's current epoch and keeps to the limits. */
export function readMetadata({ collection }: ChainState, tokenId: number): ShownMetadata | null {
  const published = collection.metadata.get(tokenId);
  return published?.epoch === collection.metadataEpoch ? parseMetadata(published.uri) : null;
}

/**
 * Creates a function that says whether {@link readMetadata} returns metadata. A page of positions calls it for each position. Therefore each
 * URI is parsed once, and only the answer is kept.
 */
export function createMetadataCheck(): (state: ChainState, tokenId: number) => boolean {
  const isReadable = memoizeByIdentity(({ uri }: TokenMetadata) => parseMetadata(uri) !== null);
  return ({ collection }, tokenId) => {
    const published = collection.metadata.get(tokenId);
    return published?.epoch === collection.metadataEpoch && isReadable(published);
  };
}

/** Parses a token's URI; null if it does not have the collection's form. */
function parseMetadata(uri: string): ShownMetadata | null {
  if (!uri.startsWith(jsonPrefix)) return null;
  let json: unknown;
  try {
    const text = Buffer.from(uri.slice(jsonPrefix.length), 'base64').toString('utf8');
    json = JSON.parse(replaceHalfSurrogates(text));
  } catch {
    return null;
  }
  const parsed = tokenMetadata.safeParse(json);
  if (!parsed.success) return null;
  const { name, description, attributes, image = null, card_image: card = null } = parsed.data;
  return {
    name,
    description,
    attributes: attributes.map(({ trait_type: traitType, value }) => ({ traitType, value })),
    imageDataUri: image,
    cardImageUrl: card,
  };
}
