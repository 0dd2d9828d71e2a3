import fc from 'fast-check';
import { Map as ImmutableMap, List } from 'immutable';
import { expect, it } from 'vitest';
import type { ChainState } from '../../../actors/chain/state/chainState.ts';
import { type TwoPartList, twoPartPage } from '../../../actors/pages/twoPartPage.ts';
import { toAddress } from '../../../actors/schemas/hex.ts';
import { captureActivity } from '../../../actors/views/chain/ownerViews.ts';
import { buildClaim } from '../../support/chain/ownerClaims.ts';
import { runs } from '../../support/propertyRuns.ts';

const { signal } = new AbortController();

/** An entry by its time and its number in the order of arrival. Several have the same time, and late ones an early time. */
interface Entry {
  readonly timeMs: number;
  readonly number: number;
}

type Order = 'newestFirst' | 'oldestFirst';

/** Entries that have arrived. Those before a number have left memory, and some of them may still be there. */
function createWorld(order: Order, stays: (entry: Entry) => boolean) {
  const sign = order === 'newestFirst' ? -1 : 1;
  const compare = (one: Entry, other: Entry) =>
    sign * (one.timeMs - other.timeMs || one.number - other.number);
  const world = { arrived: [] as Entry[], evicted: 0, rows: [] as Entry[] };
  const follow = (entries: readonly Entry[], after: Entry | null) =>
    entries.filter((entry) => after === null || compare(after, entry) < 0).sort(compare);

  function captureList(move: () => void): TwoPartList<Entry, Entry | null> {
    const { evicted } = world;
    const gone = world.arrived.slice(0, evicted);
    const memory = world.arrived.filter((entry, index) => index >= evicted || stays(entry));
    return {
      compare,
      findKey: ({ number }) => number,
      listInMemory: (after, most) => follow(memory, after).slice(0, most),
      isAboveFloor: (after, last) =>
        order === 'newestFirst'
          ? gone.every(({ timeMs }) => timeMs < (last?.timeMs ?? 0))
          : gone.every((entry) => after !== null && compare(entry, after) <= 0),
      readRows: async (after, most) => {
        await null;
        move();
        // Later rows, of another process or evicted since, do not belong to the list.
        const stored = world.rows.filter(({ number }) => number < evicted);
        return follow(stored, after).slice(0, most + 1);
      },
    };
  }

  return {
    arrive: (times: readonly number[]) => {
      for (const timeMs of times) world.arrived.push({ timeMs, number: world.arrived.length });
    },
    /** Evicts entries, and changes the lineage: another run stores them, and perhaps more than have left memory. */
    evict: (count: number, more: number) => {
      world.evicted = Math.min(world.arrived.length, world.evicted + count);
      world.rows = world.arrived.slice(0, world.evicted + more).map((entry) => ({ ...entry }));
    },
    captureList,
    list: (after: Entry | null) => follow(world.arrived, after),
  };
}

const times = fc.array(fc.nat(12), { maxLength: 12 });
const move = fc.record({ times, evicted: fc.nat(8), more: fc.nat(3) });

it('pages are those of one list, wherever memory ends and whatever moves during a read', async () => {
  const given = fc.record({
    order: fc.constantFrom<Order>('newestFirst', 'oldestFirst'),
    first: move,
    stays: fc.func(fc.boolean()),
    most: fc.integer({ min: 1, max: 7 }),
    moves: fc.array(move, { maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(given, async ({ order, first, stays, most, moves }) => {
      const world = createWorld(order, ({ number }) => stays(number));
      world.arrive(first.times);
      world.evict(first.evicted, first.more);
      const atStart = world.list(null);
      const shown: Entry[] = [];
      const left = [...moves];
      for (let after: Entry | null = null; ; after = shown.at(-1) ?? null) {
        const expected = world.list(after).slice(0, most);
        const list = world.captureList(() => {
          const next = left.shift();
          if (next === undefined) return;
          world.arrive(next.times);
          world.evict(next.evicted, next.more);
        });
        const page = await twoPartPage(list, after, most, signal);
        expect(page).toEqual(expected);
        shown.push(...page);
        if (page.length < most) break;
      }
      const numbers = shown.map(({ number }) => number);
      expect(new Set(numbers).size).toBe(numbers.length);
      // Entries that arrive meanwhile may be shown, or come too late for their page.
      expect(numbers).toEqual(expect.arrayContaining(atStart.map(({ number }) => number)));
    }),
    { numRuns: runs(500) },
  );
});

it('a page that memory holds is returned at once, and no rows are read', async () => {
  const world = createWorld('newestFirst', () => false);
  world.arrive([1, 2, 3, 4]);
  world.evict(2, 0);
  const list = world.captureList(() => undefined);
  const read = (most: number) => twoPartPage(list, null, most, signal);
  expect([read(2), read(1)]).toEqual([world.list(null).slice(0, 2), world.list(null).slice(0, 1)]);
  expect(await read(3)).toHaveLength(3);
  expect(read(3)).toBeInstanceOf(Promise);
});

it('activity of an owner is read from memory and by number from rows', async () => {
  const owner = toAddress(`0x${'f'.repeat(40)}`);
  const [first, end] = [6, 10];
  const events = Array.from({ length: end }, (_, number) => buildClaim({ blockNumber: BigInt(number) }));
  const known = { tokenIds: [], activityCount: end, activity: List(events.slice(first)) };
  // A list is made of these members alone.
  const state = { owners: ImmutableMap([[owner, known]]), position: 5 } as unknown as ChainState;
  for (let after = 0; after <= end + 1; after++)
    for (let most = 1; most <= end + 1; most++) {
      const asked: unknown[] = [];
      const list = captureActivity(state, owner, {
        read: async (range) => {
          asked.push(range);
          return events.slice(range.from, range.end);
        },
      });
      const place = Math.max(0, end - after);
      const numbers = events.map((_, number) => end - 1 - number).slice(after, after + most);
      const older = numbers.filter((number) => number < first);
      const page = await twoPartPage(list, place, most, signal);
      expect(page).toEqual(numbers.map((number) => ({ number, event: events[number] })));
      const bounds = { from: older.at(-1), end: (older[0] ?? 0) + 1, owner, throughPosition: 5 };
      expect(asked).toEqual(older.length === 0 ? [] : [bounds]);
    }
});
