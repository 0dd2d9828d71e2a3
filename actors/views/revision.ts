import { createHash } from 'node:crypto';
import { stringify } from '../folds/bigintJson.ts';

/** A short digest of some content. Equal content has equal digests. */
export function computeRevision(content: unknown): string {
  return createHash('sha256').update(stringify(content)).digest('base64url').slice(0, 22);
}
