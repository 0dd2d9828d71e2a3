import { z } from 'zod';
import {
  type ChainUnavailable,
  cardImageUrlPattern,
  imageDataUriPattern,
  type MetadataView,
} from '../../actors/views/chain/chainViewTypes.ts';
import {
  address,
  availableMembers,
  defineUnavailableWithRelease,
  toAvailableMembers,
  toUnavailableBodyWithRelease,
} from './chain.ts';
import { schemaVersion } from './scalars.ts';

const imageDataUri = z.string().regex(imageDataUriPattern).max(240_000);
const cardImageUrl = z.string().regex(cardImageUrlPattern).max(2048);

const members = {
  ...availableMembers,
  tokenId: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/)
    .meta({ description: 'ID of the token, a decimal from 1 to 9999', format: 'uint64-decimal' }),
  collection: address.describe('Contract of the token'),
  name: z.string().min(1).max(128).describe('Its name'),
  description: z.string().min(1).max(2048).describe('Its description'),
  attributes: z
    .array(
      z.strictObject({
        traitType: z.string().min(1).max(64).describe('What the attribute is of'),
        value: z.string().min(1).max(128).describe('Its value'),
      }),
    )
    .max(32)
    .describe('Its attributes, in the order of its metadata'),
  imageDataUri: imageDataUri
    .optional()
    .describe('Its image as a base64 SVG data URI; left out where it has none or a card takes its place'),
  cardImageUrl: cardImageUrl
    .optional()
    .describe('Address of an image of its card; left out where it has none, and without the release’s name'),
};

function defineResponse<Version extends number>(version: Version) {
  return z.discriminatedUnion('status', [
    z.strictObject({ schemaVersion: schemaVersion(version), ...members }),
    defineUnavailableWithRelease(version),
  ]);
}

export const publicMetadataResponse = defineResponse(2).meta({
  id: 'PublicTokenMetadata',
  description: 'Token metadata of the public route',
});
export const plainMetadataResponse = defineResponse(1).meta({
  id: 'TokenMetadata',
  description: 'Token metadata of the plain route',
});

/** Which of the two images a body shows (CONTRACT.md, Token metadata). */
export interface ShownImages {
  readonly imageDataUri: boolean;
  readonly cardImageUrl: boolean;
}

type View = MetadataView | ChainUnavailable;

export function toPublicMetadataBody(
  view: View,
  isReleaseNamed: boolean,
): z.infer<typeof publicMetadataResponse> {
  if (view.status === 'unavailable') return toUnavailableBodyWithRelease(2, view);
  const images = isReleaseNamed
    ? { cardImageUrl: true, imageDataUri: view.cardImageUrl === null }
    : { cardImageUrl: false, imageDataUri: true };
  return { schemaVersion: 2, ...toAvailableBody(view, images) };
}

/** The plain route keeps the image and has no card (CONTRACT.md, Token metadata). */
export function toPlainMetadataBody(view: View): z.infer<typeof plainMetadataResponse> {
  if (view.status === 'unavailable') return toUnavailableBodyWithRelease(1, view);
  return { schemaVersion: 1, ...toAvailableBody(view, { imageDataUri: true, cardImageUrl: false }) };
}

function toAvailableBody(view: MetadataView, images: ShownImages) {
  const { imageDataUri, cardImageUrl } = view;
  return {
    ...toAvailableMembers(view),
    tokenId: view.tokenId.toString(),
    collection: view.identities.collection,
    name: view.name,
    description: view.description,
    attributes: view.attributes.map((attribute) => ({ ...attribute })),
    ...(images.imageDataUri && imageDataUri !== null ? { imageDataUri } : {}),
    ...(images.cardImageUrl && cardImageUrl !== null ? { cardImageUrl } : {}),
  };
}
