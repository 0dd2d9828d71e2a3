import { z } from 'zod';
import type { MetadataView } from './chainViewTypes.ts';

const jsonPrefix = 'data:application/json;base64,';

/** Limits of document 3, "Metadata sizes". What does not keep to them is not shown. */
const tokenMetadata = z.object({
  name: z.string().min(1).max(128),
  description: z.string().min(1).max(2048),
  attributes: z
    .array(z.object({ trait_type: z.string().min(1).max(64), value: z.string().min(1).max(128) }))
    .max(32),
  image: z
    .string()
    .regex(/^data:image\/svg\+xml;base64,[A-Za-z0-9+/]+={0,2}$/)
    .max(240_000)
    .optional(),
  card_image: z
    .url({ protocol: /^https$/ })
    .max(2048)
    .optional(),
});

/** What a token's URI says of it; null when it is none of the collection's. */
export function metadataOfUri(
  uri: string,
): Pick<MetadataView, 'name' | 'description' | 'attributes' | 'imageDataUri' | 'cardImageUrl'> | null {
  if (!uri.startsWith(jsonPrefix)) return null;
  let json: unknown;
  try {
    json = JSON.parse(Buffer.from(uri.slice(jsonPrefix.length), 'base64').toString('utf8'));
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
