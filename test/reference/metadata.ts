import { listEvents, type SafeChain } from './chain.ts';
import { isObject, isText, type Json } from './messages.ts';

/** CONTRACT.md, Token metadata. */

interface Metadata {
  readonly name: string;
  readonly description: string;
  readonly attributes: { readonly traitType: string; readonly value: string }[];
  readonly imageDataUri?: string;
  readonly cardImageUrl?: string;
}

/** Metadata of a token; null without metadata of the current epoch, or beyond the limits. */
export function readMetadata(safe: SafeChain, tokenId: bigint): Metadata | null {
  type Published = { readonly tokenId: bigint; readonly epoch: bigint; readonly uri: string };
  const published = listEvents<Published>(safe, 'collection', 'MetadataPublished').findLast(
    ({ args }) => args.tokenId === tokenId,
  )?.args;
  const epoch = listEvents<{ epoch: bigint }>(safe, 'collection', 'MetadataEpochAdvanced').at(-1)?.args.epoch;
  const prefix = 'data:application/json;base64,';
  if (published === undefined || published.epoch !== epoch || !published.uri.startsWith(prefix)) return null;
  try {
    const text = Buffer.from(published.uri.slice(prefix.length), 'base64').toString();
    // Half of a surrogate pair cannot be encoded, so it becomes a replacement character.
    const toUtf8 = (_: string, value: unknown) =>
      typeof value === 'string' ? Buffer.from(value).toString() : value;
    return parse(JSON.parse(text, toUtf8) as Json);
  } catch {
    return null;
  }
}

function parse({ name, description, attributes, image, card_image: card }: Json): Metadata | null {
  if (!isText(name, 128) || !isText(description, 2_048)) return null;
  if (!Array.isArray(attributes) || attributes.length > 32) return null;
  const isAttribute = (one: unknown) => isObject(one) && isText(one.trait_type, 64) && isText(one.value, 128);
  if (!attributes.every(isAttribute)) return null;
  const isImage = (value: unknown) =>
    isText(value, 240_000) && /^data:image\/svg\+xml;base64,[\w+/]+=*$/.test(value);
  const isCard = (value: unknown) => isText(value, 2_048) && /^https:\/\/[^\s/?#]+(?:[/?#]\S*)?$/.test(value);
  if (image !== undefined && !isImage(image)) return null;
  if (card !== undefined && !isCard(card)) return null;
  return {
    name,
    description,
    attributes: attributes.map(({ trait_type, value }) => ({ traitType: trait_type, value })),
    ...(image !== undefined && { imageDataUri: image as string }),
    ...(card !== undefined && { cardImageUrl: card as string }),
  };
}

/** The images that a request shows. */
export function selectImages(
  { imageDataUri, cardImageUrl, ...rest }: Metadata,
  isReleaseNamed: boolean,
): Metadata {
  const hasCard = isReleaseNamed && cardImageUrl !== undefined;
  return {
    ...rest,
    ...(imageDataUri !== undefined && !hasCard && { imageDataUri }),
    ...(hasCard && { cardImageUrl }),
  };
}
