import { z } from 'zod';
import { isTransactionHash } from '../../actors/schemas/hex.ts';
import { listKeys } from '../../actors/schemas/listKeys.ts';
import {
  type EventFilter,
  type EventNoun,
  type FeedCategory,
  feedTypes,
  selectCategory,
} from '../../actors/views/feed/feedViews.ts';
import { parseOwner } from './ownerAddress.ts';
import type { QueryParameter } from './route.ts';

/** Most owners, and most miners, that one request may name. */
const namedMax = 20;

/** A query parameter that events must meet. */
interface Condition extends QueryParameter {
  /** Returns what it adds to a filter; its nouns are alternatives. Null if the value is invalid. */
  readonly parse: (value: string) => Partial<Omit<EventFilter, 'nouns'>> | readonly EventNoun[] | null;
}

const time = z.union([z.iso.datetime(), z.iso.date()]);
const timeText = z.string().regex(/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?Z)?$/);

const conditions: readonly Condition[] = [
  {
    name: 'type',
    description: 'Type of the events',
    schema: z.enum(listKeys(feedTypes)),
    parse: (value) => {
      const type = listKeys(feedTypes).find((one) => one === value);
      return type === undefined ? null : { type };
    },
  },
  {
    name: 'owner',
    description: `Owner of the events, or up to ${namedMax} owners with commas between them`,
    schema: z
      .string()
      .regex(/^0x[0-9a-fA-F]{40}(?:,0x[0-9a-fA-F]{40}){0,19}$/)
      .meta({ examples: ['0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc'] }),
    parse: (value) =>
      parseNouns(value, (one) => {
        const address = parseOwner(one);
        return address === null ? null : { kind: 'owner', address };
      }),
  },
  {
    name: 'tokenId',
    description: `Miner of the events, or up to ${namedMax} miners with commas between them`,
    schema: z
      .string()
      .regex(/^[1-9]\d{0,3}(?:,[1-9]\d{0,3}){0,19}$/)
      .meta({ examples: ['7'] }),
    parse: (value) =>
      parseNouns(value, (one) =>
        /^[1-9]\d{0,3}$/.test(one) ? { kind: 'miner', tokenId: BigInt(one) } : null,
      ),
  },
  {
    name: 'transaction',
    description: 'Hash of the transaction that emitted the events',
    schema: z.string().regex(/^0x[0-9a-f]{64}$/),
    parse: (value) => (isTransactionHash(value) ? [{ kind: 'transaction', hash: value }] : null),
  },
  {
    name: 'ethereumBlock',
    description: 'Number of the Ethereum block of the events',
    schema: z.string().regex(/^(?:0|[1-9]\d{0,14})$/),
    parse: (value) =>
      /^(?:0|[1-9]\d{0,14})$/.test(value) ? [{ kind: 'ethereumBlock', number: BigInt(value) }] : null,
  },
  {
    name: 'from',
    description: 'Time of the first events, by `recordedAt`; a date is its beginning (UTC)',
    schema: timeText.meta({ examples: ['2026-11-25'] }),
    parse: (value) => (time.safeParse(value).success ? { fromMs: Date.parse(value) } : null),
  },
  {
    name: 'to',
    description: 'Time before which the events were recorded; a date is its beginning (UTC)',
    schema: timeText.meta({ examples: ['2026-11-26T12:00:00Z'] }),
    parse: (value) => (time.safeParse(value).success ? { toMs: Date.parse(value) } : null),
  },
];

export const filterParameters: readonly QueryParameter[] = conditions;

/** Parses the conditions of a query. @returns null if one is invalid. */
export function parseFilter(
  category: FeedCategory,
  parameters: ReadonlyMap<string, string>,
): EventFilter | null {
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

/** @returns null if a noun is invalid, or if there are too many. */
function parseNouns(value: string, parse: (one: string) => EventNoun | null): readonly EventNoun[] | null {
  const texts = value.split(',', namedMax + 1);
  const nouns = texts.flatMap((one) => parse(one) ?? []);
  return nouns.length === texts.length && nouns.length <= namedMax ? nouns : null;
}
