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
  readonly bytesMax: number;
}

export function defineFormat<Schema extends z.ZodType>(
  schema: Schema,
  bytesMax: number,
): MessageFormat<Schema> {
  return { bytesMax, ...compileSchema(schema) };
}

/** Decodes UTF-8 JSON of a format. Anything else is `malformed`; a rejection costs at most a few times as much as reading the message. */
export function decodeMessage<Schema extends z.ZodType>(
  format: MessageFormat<Schema>,
  data: Uint8Array,
): Decoded<z.infer<Schema>> {
  const { schema, fits, read, bytesMax } = format;
  if (data.length > bytesMax) {
    return reject('malformed', `message: expected at most ${bytesMax} bytes, given ${data.length}`);
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

/** Names the first misfits. The value is cut short first, since zod could report a hundred thousand of them. */
export function describeMisfit(schema: z.ZodType, value: unknown): string {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : null;
  const judge = (itemsMax: number) =>
    schema.safeParse(cutShort(value, { valuesLeft: shownValuesMax, itemsMax }, 0, names), {
      error: describeExpected,
    }).error?.issues ?? [];
  // What is wrong with the first items of a list is cheap to find. Only the length and the order of a list need all of it.
  const ofFirst = judge(firstItems);
  const isOfItems = ofFirst.some(({ path }) => path.some((key) => typeof key === 'number'));
  const issues = isOfItems ? ofFirst : judge(shownValuesMax);
  if (issues.length === 0) return `message: expected shorter lists, given ${describeGiven(value)}`;
  return issues
    .slice(0, misfitsMax)
    .map(({ path, message }) => {
      const given = path.reduce<unknown>((outer, key) => Object(outer)[key], value);
      return `${path.join('.') || 'message'}: ${message}, given ${describeGiven(given)}`;
    })
    .join('; ');
}

/** Misfits that a rejection names. */
const misfitsMax = 4;
/** Characters of a wrong value that its rejection shows. */
const givenCharactersMax = 60;

/** The beginning of a wrong value. A list or an object only by its kind, since its wrong parts have misfits of their own. */
function describeGiven(given: unknown): string {
  if (given === undefined) return 'nothing';
  if (Array.isArray(given)) return given.length === 1 ? '1 item' : `${given.length} items`;
  if (typeof given === 'object' && given !== null) return 'an object';
  const text = JSON.stringify(given);
  return text.length <= givenCharactersMax ? text : `${text.slice(0, givenCharactersMax)}...`;
}

const kinds: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'an integer',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a text',
};

/** The expectation of zod, in the words of the other refusals; undefined keeps the words of the schema. */
function describeExpected(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'too_small':
      return `expected at least ${issue.minimum}${describeUnit(issue.origin, issue.minimum)}`;
    case 'too_big':
      return `expected at most ${issue.maximum}${describeUnit(issue.origin, issue.maximum)}`;
    case 'invalid_union':
      return 'expected one of the known types';
    default:
      return undefined;
  }
}

function describeUnit(origin: string, limit: number | bigint): string {
  const unit = { array: ' item', string: ' character' }[origin];
  return unit === undefined ? '' : `${unit}${limit === 1 ? '' : 's'}`;
}

/**
 * Limits of the value that is judged for its description: values in all, members per object, and depth. A closure that is one round too long has
 * 3,000 values, and is shown whole.
 */
const shownValuesMax = 4_096;
const firstItems = 8;
const shownMembers = 64;
const shownDepth = 6;

/** @param names the members to keep; null for the first ones. */
function cutShort(
  json: unknown,
  left: { valuesLeft: number; readonly itemsMax: number },
  depth = 0,
  names: readonly string[] | null = null,
): unknown {
  left.valuesLeft--;
  if (typeof json !== 'object' || json === null) return json;
  if (depth === shownDepth) return Array.isArray(json) ? [] : {};
  if (Array.isArray(json)) {
    const items: unknown[] = [];
    for (const item of json) {
      if (left.valuesLeft <= 0 || items.length === left.itemsMax) break;
      items.push(cutShort(item, left, depth + 1));
    }
    return items;
  }
  const kept = names?.filter((name) => Object.hasOwn(json, name)) ?? Object.keys(json).slice(0, shownMembers);
  const members = json as Readonly<Record<string, unknown>>;
  return Object.fromEntries(kept.map((name) => [name, cutShort(members[name], left, depth + 1)]));
}
