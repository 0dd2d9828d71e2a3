import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type RoundPage, readRoundPage, readRounds } from '../../actors/views/roundViews.ts';
import { genesisMs } from '../support/genesis.ts';
import { runs } from '../support/propertyRuns.ts';

const { signal } = new AbortController();
const startOf = (round: number) => genesisMs + (round - 1) * 600_000;
/** A time at the start of a round, or next to it. */
const border = fc
  .tuple(fc.integer({ min: -1, max: 12 }), fc.constantFrom(-1, 0, 1))
  .map(([round, byMs]) => startOf(round) + byMs);
const times = fc.record({ nowMs: border, fromMs: fc.option(border), toMs: fc.option(border) });
const limits = fc.integer({ min: 1, max: 5 });

it('pages have each round that has begun once, with its state at every border', async () => {
  await fc.assert(
    fc.asyncProperty(
      times,
      fc.nat(12),
      fc.nat(12),
      limits,
      async ({ nowMs, ...of }, settled, closed, limit) => {
        const configuration = { genesisTimestamp: BigInt(genesisMs / 1_000), roundDuration: 600n };
        const core = { configuration, settledThroughRound: BigInt(settled) };
        const available = { status: 'available', events: [], nextCursor: null, recentRounds: null, core };
        const views = {
          chain: { economy: () => available, core: () => available, settlements: () => available },
          feed: { page: () => available },
          process: () => ({ generatedAtMs: nowMs }),
          isClosed: (round: bigint) => round <= closed,
        } as never;
        const describe = (round: number) => {
          if (round <= settled) return 'settled';
          if (startOf(round) > nowMs) return 'future';
          if (startOf(round + 1) > nowMs) return 'open';
          return round <= closed ? 'closed' : 'ended';
        };
        const all = Array.from({ length: 30 }, (_, at) => [30 - at, describe(30 - at)] as const);
        const isWithin = (startMs: number) => startMs >= (of.fromMs ?? 0) && startMs < (of.toMs ?? Infinity);
        const expected = all.filter(([round, state]) => state !== 'future' && isWithin(startOf(round)));
        const list = ({ rounds }: RoundPage) => rounds.map(({ roundId, state }) => [Number(roundId), state]);
        let cursor: string | null = null;
        for (let from = 0; from === 0 || cursor !== null; from += limit) {
          const page = (await readRoundPage(views, { limit, cursor, ...of }, signal)) as RoundPage;
          expect(list(page)).toEqual(expected.slice(from, from + limit));
          cursor = page.nextCursor;
          expect(cursor !== null).toBe(from + limit < expected.length);
        }
        expect(list((await readRounds(views, [1n, 30n], signal)) as RoundPage)).toEqual(all);
      },
    ),
    { numRuns: runs(200) },
  );
});
