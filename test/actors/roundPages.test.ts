import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type RoundPage, readRoundPage, readRounds } from '../../actors/views/roundViews.ts';
import { genesisMs } from '../support/genesis.ts';
import { runs } from '../support/propertyRuns.ts';

const roundMs = 600_000;
const { signal } = new AbortController();
const startOf = (round: number) => genesisMs + (round - 1) * roundMs;
/** A time at the start of a round, or next to it. */
const border = fc
  .record({ round: fc.integer({ min: -1, max: 12 }), byMs: fc.constantFrom(-1, 0, 1) })
  .map(({ round, byMs }) => startOf(round) + byMs);

it('pages have each round that has begun once, with its state at every border', async () => {
  const world = fc.record({
    nowMs: border,
    settled: fc.nat(12),
    closed: fc.nat(12),
    fromMs: fc.option(border),
    toMs: fc.option(border),
    limit: fc.integer({ min: 1, max: 5 }),
  });
  await fc.assert(
    fc.asyncProperty(world, async ({ nowMs, settled, closed, limit, ...times }) => {
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
      const all = Array.from({ length: 30 }, (_, at) => 30 - at);
      const begun = all.filter((round) => describe(round) !== 'future');
      const expected = begun.filter(
        (round) => startOf(round) >= (times.fromMs ?? 0) && startOf(round) < (times.toMs ?? Infinity),
      );
      const states = ({ rounds }: Pick<RoundPage, 'rounds'>) =>
        rounds.map(({ roundId, state }) => [Number(roundId), state]);
      let cursor: string | null = null;
      for (let from = 0; from === 0 || cursor !== null; from += limit) {
        const page = (await readRoundPage(views, { limit, cursor, ...times }, signal)) as RoundPage;
        const shown = expected.slice(from, from + limit);
        expect(states(page)).toEqual(shown.map((round) => [round, describe(round)]));
        expect(page.nextCursor !== null).toBe(from + limit < expected.length);
        cursor = page.nextCursor;
      }
      const rounds = (await readRounds(views, [1n, 30n], signal)) as RoundPage;
      expect(states(rounds)).toEqual(all.map((round) => [round, describe(round)]));
    }),
    { numRuns: runs(200) },
  );
});
