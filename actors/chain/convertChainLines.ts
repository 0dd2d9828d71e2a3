import { z } from 'zod';
import { formatArrival } from '../feed/arrival.ts';
import { type FoldRecord, RecordRefused } from '../foldRecord.ts';
import { compileGuard } from '../schemas/compileGuard.ts';

/**
 * Records of a snapshot in the format before records: a line of the fold, one of the newest state, then lists in pieces. What an
 * entry holds stays as it was, bigints too, and is checked when its record is read.
 */
export function* convertChainLines(lines: Iterable<string>): Iterable<FoldRecord> {
  let newest: Record<string, unknown> | null = null;
  let lineCount = 0;
  let owner = '';
  const mintedRounds: unknown[] = [];
  const sizes = new Map<string, number>();
  const nextIndex = (list: string) => {
    const index = sizes.get(list) ?? 0;
    sizes.set(list, index + 1);
    return index;
  };
  for (const line of lines) {
    const value: unknown = JSON.parse(line);
    lineCount++;
    if (lineCount === 1) {
      const { safeBlock: _safeBlock, ...fold } = anyObject.parse(value);
      yield toRecord('fold', '', fold);
    } else if (lineCount === 2) newest = anyObject.parse(value);
    else if (isOwner(value)) owner = value.owner;
    else if (!isPiece(value)) throw new RecordRefused(`line ${lineCount} of a chain's state is no list`);
    else if (value.list === 'mintedRounds') mintedRounds.push(...value.items);
    else if (value.list === 'activity') {
      for (const item of value.items) yield toRecord('activity', `${owner}/${nextIndex(owner)}`, item);
    } else {
      const convert = lists[value.list];
      for (const item of value.items) yield convert(item, nextIndex(value.list));
    }
  }
  if (newest !== null) yield toRecord('state', '', { ...newest, mintedRounds });
}

const anyObject = z.looseObject({});
const isOwner = compileGuard(z.strictObject({ owner: z.string(), tokenIds: z.array(z.int()) }));
const isPiece = compileGuard(
  z.strictObject({
    list: z.enum([
      'settlements',
      'unprocessedRounds',
      'checkpoints',
      'mintedRounds',
      'perWeightByDate',
      'perWeightAtActivation',
      'pendingWeight',
      'metadata',
      'positions',
      'feed',
      'activity',
    ]),
    items: z.array(z.unknown()),
  }),
);

const unprocessedRound = z.looseObject({ roundId: z.strictObject({ $bigint: z.string() }) });
const perWeight = z.strictObject({ date: z.string(), atEnd: z.unknown() });
const byRound = z.tuple([z.string(), z.unknown()]);
const byToken = z.tuple([z.int(), z.unknown()]);
const position = z.looseObject({ tokenId: z.int() });
const feedEvent = z.looseObject({ position: z.int(), ordinal: z.int() });

const lists = {
  settlements: (item: unknown, index: number) => toRecord('settlement', index, item),
  checkpoints: (item: unknown, index: number) => toRecord('checkpoint', index, item),
  unprocessedRounds: (item: unknown) =>
    toRecord('unprocessedRound', unprocessedRound.parse(item).roundId.$bigint, item),
  perWeightByDate: (item: unknown) => {
    const { date, atEnd } = perWeight.parse(item);
    return toRecord('perWeight', date, atEnd);
  },
  perWeightAtActivation: (item: unknown) => toRecord('activationPerWeight', ...byRound.parse(item)),
  pendingWeight: (item: unknown) => toRecord('pendingWeight', ...byRound.parse(item)),
  metadata: (item: unknown) => toRecord('metadata', ...byToken.parse(item)),
  positions: (item: unknown) => toRecord('position', position.parse(item).tokenId, item),
  feed: (item: unknown) => toRecord('feedEvent', formatArrival(feedEvent.parse(item)), item),
};

function toRecord(kind: string, key: string | number, value: unknown): FoldRecord {
  return { kind, key: String(key), value: JSON.stringify(value) };
}
