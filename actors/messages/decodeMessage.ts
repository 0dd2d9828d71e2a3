import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { readErrorMessage } from '../readErrorMessage.ts';
import { type CompiledSchema, compileSchema } from '../schemas/compileSchema.ts';
import { findHalfSurrogate } from './halfSurrogates.ts';
import type { RejectionReason } from './rejectionReasons.ts';

const detailCharactersMax = 400;

export interface Rejection {
  readonly reason: RejectionReason;
  readonly detail: string;
}

export type Decoded<Value> = { readonly value: Value } | { readonly rejection: Rejection };

/** Result of a message that an actor reads: its output, or the reason for its rejection. */
export type Received<Output> = { readonly rejection: Rejection } | { readonly output: Output };

/** Result of any message of a stream; `unread` for a kind that no view reads. */
export type Outcome<Output> = 'unread' | Received<Output>;

export function reject(reason: RejectionReason, detail: string): { rejection: Rejection } {
  // A character may be cut in two here, or by what describes a message.
  return { rejection: { reason, detail: detail.slice(0, detailCharactersMax).toWellFormed() } };
}

/** The same bytes as a buffer. The NATS client's data is one already, but its types do not say so. */
export function toBuffer(data: Uint8Array): Buffer {
  return Buffer.isBuffer(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

export interface MessageFormat<Schema extends z.ZodType> extends CompiledSchema<Schema> {
  readonly schema: Schema;
  readonly bytesMax: number;
}

export function defineFormat<Schema extends z.ZodType>(
  schema: Schema,
  bytesMax: number,
): MessageFormat<Schema> {
  return { schema, bytesMax, ...compileSchema(schema) };
}

/** Decodes UTF-8 JSON of a format. Anything else is `malformed`; a rejection costs at most a few times as much as reading the message. */
export function decodeMessage<Schema extends z.ZodType>(
  format: MessageFormat<Schema>,
  data: Uint8Array,
): Decoded<z.infer<Schema>> {
  const { schema, fits, read, bytesMax } = format;
  if (data.length > bytesMax) {
    return reject('malformed', `${data.length} bytes, at most ${bytesMax} are accepted`);
  }
  if (!isUtf8(data)) return reject('malformed', 'not UTF-8');
  const text = toBuffer(data).toString('utf8');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return reject('malformed', `not JSON: ${readErrorMessage(error)}`);
  }
  const half = findHalfSurrogate(text);
  if (half !== null) return reject('malformed', `${half}: half of a surrogate pair is not a character`);
  if (!fits(json)) return reject('malformed', describeMisfit(schema, json));
  return { value: read(json) };
}

/** Names the misfits. The value is cut short first, since zod could report a hundred thousand of them. */
function describeMisfit(schema: z.ZodType, value: unknown): string {
  const shown = cutShort(value, 0, schema instanceof z.ZodObject ? Object.keys(schema.shape) : null);
  const { error } = schema.safeParse(shown);
  if (error === undefined)
    return `a list is too long, or not as expected behind its first ${shownItems} items`;
  return error.issues
    .map(({ path, message }) => {
      const given = path.reduce<unknown>((outer, key) => Object(outer)[key], shown);
      const text = given === undefined ? 'nothing' : JSON.stringify(given).slice(0, givenCharactersMax);
      return `${path.join('.') || 'message'}: ${message}, given ${text}`;
    })
    .join('; ');
}

/** Characters of a wrong value that its rejection shows. */
const givenCharactersMax = 60;

/** Limits of the value that an error describes: items per list, members per object, and depth. */
const shownItems = 8;
const shownMembers = 64;
const shownDepth = 6;

/** @param names the members to keep; null for the first ones. */
function cutShort(json: unknown, depth = 0, names: readonly string[] | null = null): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (depth === shownDepth) return Array.isArray(json) ? [] : {};
  if (Array.isArray(json)) return json.slice(0, shownItems).map((item) => cutShort(item, depth + 1));
  const kept = names?.filter((name) => Object.hasOwn(json, name)) ?? Object.keys(json).slice(0, shownMembers);
  const members = json as Readonly<Record<string, unknown>>;
  return Object.fromEntries(kept.map((name) => [name, cutShort(members[name], depth + 1)]));
}
