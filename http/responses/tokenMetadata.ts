import { z } from 'zod';
import {
  type ChainUnavailable,
  cardImageUrlPattern,
  imageDataUriPattern,
  type MetadataView,
} from '../../actors/views/chainViewTypes.ts';
import {
  address,
  availableMembers,
  availableMembersBody,
  defineUnavailableWithRelease,
  unavailableBodyWithRelease,
} from './chain.ts';

const imageDataUri = z.string().regex(imageDataUriPattern).max(240_000);
const cardImageUrl = z.string().regex(cardImageUrlPattern).max(2048).meta({ format: 'uri' });

const members = {
  ...availableMembers,
  tokenId: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/)
    .meta({ description: 'Decimal from 1 to 9999' }),
  collection: address,
  name: z.string().min(1).max(128),
  description: z.string().min(1).max(2048),
  attributes: z
    .array(z.strictObject({ traitType: z.string().min(1).max(64), value: z.string().min(1).max(128) }))
    .max(32),
  imageDataUri: imageDataUri.optional(),
  cardImageUrl: cardImageUrl.optional(),
};

function defineResponse<Version extends number>(version: Version) {
  return z.discriminatedUnion('status', [
    z.strictObject({ schemaVersion: z.literal(version), ...members }),
    defineUnavailableWithRelease(version),
  ]);
}

export const metadataResponseA = defineResponse(2).meta({
  id: 'TokenMetadataA',
  description: 'Token metadata [A]',
});
export const metadataResponseB = defineResponse(1).meta({
  id: 'TokenMetadata',
  description: 'Token metadata [B]',
});

/** Which of the two images an answer keeps (CONTRACT.md, Token metadata). */
export interface KeptImages {
  readonly imageDataUri: boolean;
  readonly cardImageUrl: boolean;
}

type View = MetadataView | ChainUnavailable;

export function metadataBodyA(view: View, isReleaseNamed: boolean): z.infer<typeof metadataResponseA> {
  if (view.status === 'unavailable') return unavailableBodyWithRelease(2, view);
  const kept = isReleaseNamed
    ? { cardImageUrl: true, imageDataUri: view.cardImageUrl === null }
    : { cardImageUrl: false, imageDataUri: true };
  return { schemaVersion: 2, ...availableBody(view, kept) };
}

/** The plain route keeps the image and has no card (CONTRACT.md, Token metadata). */
export function metadataBodyB(view: View): z.infer<typeof metadataResponseB> {
  if (view.status === 'unavailable') return unavailableBodyWithRelease(1, view);
  return { schemaVersion: 1, ...availableBody(view, { imageDataUri: true, cardImageUrl: false }) };
}

function availableBody(view: MetadataView, kept: KeptImages) {
  const { imageDataUri, cardImageUrl } = view;
  return {
    ...availableMembersBody(view),
    tokenId: view.tokenId.toString(),
    collection: view.identities.collection,
    name: view.name,
    description: view.description,
    attributes: view.attributes.map((attribute) => ({ ...attribute })),
    ...(kept.imageDataUri && imageDataUri !== null ? { imageDataUri } : {}),
    ...(kept.cardImageUrl && cardImageUrl !== null ? { cardImageUrl } : {}),
  };
}
