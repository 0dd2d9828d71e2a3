import { z } from 'zod';
import { type EventFilter, selectCategory } from '../../actors/feed/eventFilter.ts';
import type { EventNoun } from '../../actors/feed/eventKeys.ts';
import { type FeedCategory, type FeedType, feedTypes } from '../../actors/feed/feedCategories.ts';
import { listKeys } from '../../actors/schemas/listKeys.ts';
import { parseOwner } from '../addresses/ownerAddress.ts';
import type { Parameters, QueryParameter } from './route.ts';

/** Most owners, and most miners, that one request may name. */
const namedMax = 20;
const listOf = (pattern: string) =>
  z.string().regex(new RegExp(`^${pattern}(?:,${pattern}){0,${namedMax - 1}}$`));

const isoTime = z.union([z.iso.datetime(), z.iso.date()]);
const time = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z)?$/)
  .refine((text) => isoTime.safeParse(text).success);

/** A query parameter that events must meet. */
interface Condition extends QueryParameter {
  /** Returns what a value of the schema adds to a filter; its nouns are alternatives. Null if it is invalid even so. */
  readonly parse: (value: string) => Partial<Omit<EventFilter, 'nouns'>> | readonly EventNoun[] | null;
}

const times: readonly Condition[] = [
  {
    name: 'from',
    description: 'Only events with `recordedAt` at or after this time; a date is its beginning (UTC)',
    schema: time.meta({ examples: ['2026-11-25'] }),
    parse: (text) => ({ fromMs: Date.parse(text) }),
  },
  {
    name: 'to',
    description: 'Only events with `recordedAt` before this time; a date is its beginning (UTC)',
    schema: time.meta({ examples: ['2026-11-26T12:00:00Z'] }),
    parse: (text) => ({ toMs: Date.parse(text) }),
  },
];

const conditions: readonly Condition[] = [
  {
    name: 'type',
    description: 'Type of the events; a type of another category than `category` finds none',
    schema: z.enum(listKeys(feedTypes)).meta({ id: 'GetEventsType' }),
    // The schema has checked it.
    parse: (type) => ({ type: type as FeedType }),
  },
  {
    name: 'owner',
    description: `Owner who minted, merged or claimed, or up to ${namedMax} owners with commas between them`,
    schema: listOf('0x[0-9a-fA-F]{40}').meta({ examples: ['0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc'] }),
    parse: (value) => {
      const owners = value.split(',').map(parseOwner);
      const nouns = owners.flatMap((address) =>
        address === null ? [] : [{ kind: 'owner', address } as const],
      );
      return nouns.length === owners.length ? nouns : null;
    },
  },
  {
    name: 'tokenId',
    description: `Miner of the events, or up to ${namedMax} miners with commas between them`,
    schema: listOf('[1-9][0-9]{0,3}').meta({ examples: ['7'] }),
    parse: (value) => value.split(',').map((id) => ({ kind: 'miner', tokenId: BigInt(id) })),
  },
  {
    name: 'transaction',
    description: 'Hash of the transaction that emitted the events',
    schema: z.string().regex(/^0x[0-9a-f]{64}$/),
    parse: (hash) => [{ kind: 'transaction', hash }],
  },
  {
    name: 'ethereumBlock',
    description: 'Number of the Ethereum block of the events',
    schema: z.string().regex(/^(?:0|[1-9]\d{0,14})$/),
    parse: (number) => [{ kind: 'ethereumBlock', number: BigInt(number) }],
  },
  ...times,
];

export const filterParameters: readonly QueryParameter[] = conditions;
export const timeParameters: readonly QueryParameter[] = times;

/** The times of a query; null for any. */
export function readTimes(parameters: Parameters) {
  const [from, to] = [parameters.get('from'), parameters.get('to')];
  return {
    fromMs: from === undefined ? null : Date.parse(from),
    toMs: to === undefined ? null : Date.parse(to),
  };
}

/** Parses the conditions of a query on the events of a category. @returns null if one is invalid although its schema accepts it. */
export function parseFilter(category: FeedCategory, parameters: Parameters): EventFilter | null {
  let filter = selectCategory(category);
  for (const { name, parse } of conditions) {
    const value = parameters.get(name);
    if (value === undefined) continue;
    const found = parse(value);
    if (found === null) return null;
    filter = Array.isArray(found) ? { ...filter, nouns: [...filter.nouns, found] } : { ...filter, ...found };
  }
  return filter;
}
