import { createHash } from 'node:crypto';
import { stringify } from './bigintJson.ts';

/** An opaque digest of what a view shows. */
export function computeRevision(content: readonly unknown[]): string {
  return createHash('sha256').update(stringify(content)).digest('base64url').slice(0, 22);
}
