import { z } from 'zod';
import { cardImageUrl, imageDataUri } from '../../../actors/chain/state/tokenMetadata.ts';
import type { MetadataView } from '../../../actors/views/chain/chainViews.ts';
import type { ChainUnavailable } from '../../../actors/views/chain/shownStates.ts';
import { defineObject } from '../scalars.ts';
import { address, defineVariants, toVariant } from './chain.ts';

const members = {
  tokenId: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/)
    .meta({ description: 'ID of the token, a decimal from 1 to 9999', format: 'uint64-decimal' }),
  collection: address.describe('Contract of the token'),
  name: z.string().min(1).max(128).describe('Name of the token'),
  description: z.string().min(1).max(2048).describe('Description of the token'),
  attributes: z
    .array(
      defineObject('TokenMetadataAttribute', {
        traitType: z.string().min(1).max(64).describe('Name of the attribute'),
        value: z.string().min(1).max(128).describe('Value of the attribute'),
      }),
    )
    .max(32)
    .describe('Attributes of the token, in the order of its metadata'),
  imageDataUri: imageDataUri
    .optional()
    .describe('Image as a base64 SVG data URI; left out if the token has none, or a card replaces it'),
  cardImageUrl: cardImageUrl
    .optional()
    .describe('URL of an image of its card; left out if it has none, or the request names no release'),
};

export const publicMetadataResponse = defineVariants(2, members, {
  id: 'PublicTokenMetadata',
  description: 'Token metadata of the public route',
});
export const plainMetadataResponse = defineVariants(1, members, {
  id: 'TokenMetadata',
  description: 'Token metadata of the plain route',
});

/** Which of the two images a body shows (CONTRACT.md, Token metadata). */
interface ShownImages {
  readonly imageDataUri: boolean;
  readonly cardImageUrl: boolean;
}

type View = MetadataView | ChainUnavailable;

export function toPublicMetadataBody(
  view: View,
  isReleaseNamed: boolean,
): z.infer<typeof publicMetadataResponse> {
  return toVariant(2, view, (available) =>
    toMembers(available, {
      cardImageUrl: isReleaseNamed,
      imageDataUri: !isReleaseNamed || available.cardImageUrl === null,
    }),
  );
}

/** The plain route shows the image and never a card (CONTRACT.md, Token metadata). */
export function toPlainMetadataBody(view: View): z.infer<typeof plainMetadataResponse> {
  return toVariant(1, view, (available) => toMembers(available, { imageDataUri: true, cardImageUrl: false }));
}

function toMembers(view: MetadataView, images: ShownImages) {
  const { imageDataUri, cardImageUrl } = view;
  return {
    tokenId: view.tokenId.toString(),
    collection: view.identities.collection,
    name: view.name,
    description: view.description,
    attributes: view.attributes.map((attribute) => ({ ...attribute })),
    imageDataUri: images.imageDataUri ? (imageDataUri ?? undefined) : undefined,
    cardImageUrl: images.cardImageUrl ? (cardImageUrl ?? undefined) : undefined,
  };
}
