import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type RoundPage, readRoundPage } from '../../actors/views/roundViews.ts';
import type { ActorViews } from '../../actors/views/views.ts';
import { followCursors } from '../support/http/followCursors.ts';
import { runs } from '../support/propertyRuns.ts';

const genesisMs = 1_769_860_800_000;
const roundMs = 600_000;
const { signal } = new AbortController();

interface Given {
  readonly nowMs: number;
  readonly settledThrough: bigint;
  readonly closed: readonly bigint[];
}

function createSources({ nowMs, settledThrough, closed }: Given) {
  const page = { status: 'available', events: [], nextCursor: null };
  const configuration = {
    genesisTimestamp: BigInt(genesisMs / 1_000),
    roundDuration: BigInt(roundMs / 1_000),
  };
  return {
    chain: {
      economy: () => ({ status: 'available' }),
      core: () => ({ status: 'available', core: { configuration, settledThroughRound: settledThrough } }),
      settlements: () => ({ status: 'available', issuance: 'not_configured' }),
    },
    feed: { page: () => page },
    process: () => ({ generatedAtMs: nowMs, oracle: { latestClosure: null } }),
    isClosed: (round: bigint) => closed.includes(round),
  } as unknown as ActorViews;
}

it('rounds have the state of clock, closures and core', async () => {
  const besideBorder = fc
    .tuple(fc.integer({ min: -2, max: 45 }), fc.constantFrom(-1, 0, 1))
    .map(([round, byMs]) => genesisMs + round * roundMs + byMs);
  const given = fc.record({
    nowMs: fc.oneof(besideBorder, fc.integer({ min: genesisMs, max: genesisMs + 45 * roundMs })),
    settledThrough: fc.bigInt({ min: 0n, max: 30n }),
    closed: fc.array(fc.bigInt({ min: 1n, max: 45n })),
  });
  const time = fc.option(besideBorder);
  const request = fc.record({ limit: fc.integer({ min: 1, max: 12 }), fromMs: time, toMs: time });
  await fc.assert(
    fc.asyncProperty(given, request, async (world, { limit, fromMs, toMs }) => {
      const shown: { readonly roundId: bigint; readonly state: string; readonly startAtMs: number }[] = [];
      const read = (cursor: string | null) =>
        readRoundPage(createSources(world), { limit, cursor, fromMs, toMs }, signal) as Promise<RoundPage>;
      for await (const page of followCursors(read)) {
        expect(page.rounds.length).toBeLessThanOrEqual(limit);
        shown.push(...page.rounds);
      }
      const expected = [];
      for (let number = 60; number >= 1; number--) {
        const [roundId, startAtMs] = [BigInt(number), genesisMs + (number - 1) * roundMs];
        const { nowMs, settledThrough, closed } = world;
        const isSettled = roundId <= settledThrough;
        if (!isSettled && startAtMs > nowMs) continue;
        if ((fromMs !== null && startAtMs < fromMs) || (toMs !== null && startAtMs >= toMs)) continue;
        const isOpen = nowMs < startAtMs + roundMs;
        const unsettled = isOpen ? 'open' : closed.includes(roundId) ? 'closed' : 'ended';
        expected.push({ roundId, startAtMs, state: isSettled ? 'settled' : unsettled });
      }
      expect(shown.map(({ roundId, startAtMs, state }) => ({ roundId, startAtMs, state }))).toEqual(expected);
    }),
    { numRuns: runs(300) },
  );
});
