import { isUtf8 } from 'node:buffer';
import type { z } from 'zod';
import { readErrorMessage } from '../readErrorMessage.ts';
import type { Check } from '../schemas/compileCheck.ts';

const detailCharactersMax = 400;

/** Why a message was not accepted; the order of the tests is that of MESSAGES.md, Acceptance of readings. */
export const rejectionReasons = [
  'malformed',
  'wrong_installation',
  'wrong_instance',
  'future_observation',
  'duplicate',
  'out_of_order',
  'counter_regression',
  'too_many_instances',
  'too_many_installations',
  'unlinked_span',
  'other_deployment',
  'not_allowed',
] as const;
export type RejectionReason = (typeof rejectionReasons)[number];

export interface Rejection {
  readonly reason: RejectionReason;
  /** The value that was received, and what is expected. */
  readonly detail: string;
}

export type Decoded<Value> = { readonly value: Value } | { readonly rejection: Rejection };

export function reject(reason: RejectionReason, detail: string): { rejection: Rejection } {
  return { rejection: { reason, detail: detail.slice(0, detailCharactersMax) } };
}

/** The same bytes, which in fact are a buffer already: the types of the NATS client do not say so. */
export function toBuffer(data: Uint8Array): Buffer {
  return Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

/**
 * UTF-8 JSON of at most `bytesMax`, parsed with a schema; anything else is `malformed`. With `fits`, the compiled check of the
 * same schema, what fits is taken as it is, members that the schema does not name included.
 */
export function decodeMessage<Schema extends z.ZodType>(
  schema: Schema,
  data: Uint8Array,
  bytesMax: number,
  fits: Check | null = null,
): Decoded<z.infer<Schema>> {
  if (data.length > bytesMax) {
    return reject('malformed', `${data.length} bytes, at most ${bytesMax} are accepted`);
  }
  if (!isUtf8(data)) return reject('malformed', 'not UTF-8');
  let json: unknown;
  try {
    json = JSON.parse(toBuffer(data).toString('utf8'));
  } catch (error) {
    return reject('malformed', `not JSON: ${readErrorMessage(error)}`);
  }
  // `fits` is the check of this schema.
  if (fits?.(json)) return { value: json as z.infer<Schema> };
  const parsed = schema.safeParse(json);
  if (parsed.success) return { value: parsed.data };
  const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'message'}: ${issue.message}`);
  return reject('malformed', issues.join('; '));
}
