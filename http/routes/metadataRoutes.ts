import { minerPath } from '../addresses/recordPaths.ts';
import { versionId } from '../responses/chain/chain.ts';
import {
  plainMetadataResponse,
  publicMetadataResponse,
  toPlainMetadataBody,
  toPublicMetadataBody,
} from '../responses/chain/tokenMetadata.ts';
import { noStore, privateForFiveMinutes } from './cacheControl.ts';
import { defineRoute, describeUnreadable, type PathParameter } from './route.ts';

/** The routes check the token ID themselves, after the query (CONTRACT.md, Token metadata). */
const tokenPath: PathParameter = { ...minerPath, parse: (segment) => segment, error: 'invalid_token_id' };

export const publicMetadata = defineRoute({
  path: '/v2/public/miners/metadata/{tokenId}',
  operationId: 'getPublicTokenMetadata',
  summary: 'Metadata of a position',
  topic: 'rewards',
  rateClass: 'metadata',
  pathParameter: tokenPath,
  query: [
    {
      name: 'release',
      description: 'ID of the current release; a card then replaces the image',
      schema: versionId,
      isOpaque: true,
    },
  ],
  cacheControl: noStore,
  errors: ['invalid_query', 'invalid_token_id'],
  response: publicMetadataResponse,
  unavailable: (views) => toPublicMetadataBody(describeUnreadable(views), false),
  // In this order: query keys, token ID, release (CONTRACT.md, Token metadata).
  read: ({ views: { chain } }, { pathValue, parameters }) => {
    const tokenId = minerPath.parse(pathValue);
    if (tokenId === null) return { error: 'invalid_token_id' };
    const release = parameters.get('release');
    if (release !== undefined && release !== chain.release?.id) return { error: 'invalid_query' };
    const body = toPublicMetadataBody(chain.metadata(Number(tokenId)), release !== undefined);
    const isKept = release !== undefined && body.status === 'available' && body.imageDataUri === undefined;
    return { body, cacheControl: isKept ? privateForFiveMinutes : noStore };
  },
});

export const plainMetadata = defineRoute({
  path: '/v1/miners/{tokenId}/metadata',
  operationId: 'getTokenMetadata',
  summary: 'Metadata of a position',
  topic: 'rewards',
  rateClass: 'metadata',
  pathParameter: tokenPath,
  query: 'none',
  cacheControl: noStore,
  errors: ['invalid_query', 'invalid_token_id'],
  response: plainMetadataResponse,
  unavailable: (views) => toPlainMetadataBody(describeUnreadable(views)),
  read: ({ views: { chain } }, { pathValue }) => {
    const tokenId = minerPath.parse(pathValue);
    return tokenId === null
      ? { error: 'invalid_token_id' }
      : { body: toPlainMetadataBody(chain.metadata(Number(tokenId))) };
  },
});
