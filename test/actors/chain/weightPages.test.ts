import fc from 'fast-check';
import { Map as ImmutableMap } from 'immutable';
import { expect, it } from 'vitest';
import type { ChainState } from '../../../actors/chain/state/chainState.ts';
import type { MinerPosition } from '../../../actors/chain/state/miningState.ts';
import { activateWeight, computeActiveWeight, openSegment } from '../../../actors/chain/state/rewards.ts';
import { toAddress } from '../../../actors/schemas/hex.ts';
import type { MinersView, OwnersView } from '../../../actors/views/chain/weightViews.ts';
import { buildEconomyEvents, buildState, createStateViews } from '../../support/chain/economyState.ts';
import { runs } from '../../support/propertyRuns.ts';

const addresses = ['1', '2', '9', 'a', 'f'].map((digit) => toAddress(`0x${digit.repeat(40)}`));
const miner = fc.record({
  tokenId: fc.integer({ min: 1, max: 9_999 }),
  owner: fc.constantFrom(...addresses),
  // Few values, so that many are equal.
  weight: fc.constantFrom(0n, 100n, 100n, 250n, 10n ** 30n),
});
type Miner = typeof miner extends fc.Arbitrary<infer Value> ? Value : never;
const miners = fc.uniqueArray(miner, { selector: ({ tokenId }) => tokenId, maxLength: 25, size: 'max' });

const plain = buildState(buildEconomyEvents());

function holdMiners(held: readonly Miner[]): ChainState {
  const [template] = plain.minerPositions.values();
  if (template === undefined) throw new Error('the economy has no position');
  const positions = held.map(({ tokenId, owner, weight }) => {
    const segments = weight === 0n ? [] : [openSegment(plain.mining.accumulatedPerWeight, weight)];
    return [tokenId, { ...template, tokenId, owner, pending: null, segments }] as const;
  });
  return { ...plain, minerPositions: ImmutableMap(positions) };
}

interface Place {
  readonly name: number | string;
  readonly weight: bigint;
}

function sumOwners(held: readonly Miner[]): Place[] {
  const sums = new Map<string, bigint>();
  for (const { owner, weight } of held) sums.set(owner, (sums.get(owner) ?? 0n) + weight);
  return [...sums].map(([name, weight]) => ({ name, weight }));
}

const isHeavier = (one: Place, other: Place) =>
  one.weight === other.weight ? one.name < other.name : one.weight > other.weight;

it('pages of miners and owners go on by weight, whatever has changed', () => {
  const walk = fc.record({
    list: fc.constantFrom('miners', 'owners'),
    states: fc.array(miners, { minLength: 1, maxLength: 4 }),
    limit: fc.integer({ min: 1, max: 6 }),
  });
  fc.assert(
    fc.property(walk, ({ list, states, limit }) => {
      const { source, views } = createStateViews(plain);
      let cursor: string | null = null;
      let last: Place | null = null;
      for (let page = 0; page === 0 || cursor !== null; page++) {
        const held = states[Math.min(page, states.length - 1)] as Miner[];
        source.state = holdMiners(held);
        const places: Place[] =
          list === 'owners' ? sumOwners(held) : held.map(({ tokenId: name, weight }) => ({ name, weight }));
        const before: Place | null = last;
        const following: Place[] = places.filter((one) => before === null || isHeavier(before, one));
        const expected: Place[] = following
          .sort((one, other) => (isHeavier(one, other) ? -1 : 1))
          .slice(0, limit);
        const view = views[list as 'miners' | 'owners']({ limit, cursor }) as MinersView | OwnersView;
        const shown =
          'miners' in view
            ? view.miners.map(({ tokenId, activeWeight }) => ({
                name: Number(tokenId),
                weight: activeWeight,
              }))
            : view.owners.map(({ address, activeWeight }) => ({ name: address, weight: activeWeight }));
        expect(shown).toEqual(expected);
        expect(view.nextCursor === null).toBe(following.length <= limit);
        cursor = view.nextCursor;
        last = expected.at(-1) ?? null;
      }
    }),
    { numRuns: runs(200) },
  );
});

it('a cursor of another list, or of none, is refused', () => {
  const { views, source } = createStateViews(plain);
  source.state = holdMiners(
    [1, 2].map((tokenId) => ({ tokenId, owner: addresses[tokenId] as never, weight: 1n })),
  );
  const { nextCursor: cursor } = views.miners({ limit: 1, cursor: null }) as MinersView;
  expect(views.owners({ limit: 1, cursor })).toEqual({ fault: 'undecodable' });
  expect(views.miners({ limit: 1, cursor: 'x' })).toEqual({ fault: 'undecodable' });
});

it('a miner that was merged is known by its number, also the newest one', () => {
  const { views, source } = createStateViews(plain);
  const collection = { ...plain.collection, publicMinted: 2n, reserveMinted: 1n };
  source.state = { ...holdMiners([]), collection };
  expect([3, 4].map(views.miner)).toMatchObject([{ isCreated: true }, { isCreated: false }]);
});

it('a pending weight counts from its round on', () => {
  const [template] = plain.minerPositions.values();
  const pending = { round: 5n, weight: 7n, source: 'mint' } as const;
  const position = { ...(template as MinerPosition), segments: [], pending };
  const weights = [4n, 5n].map((lastActivationRound) => {
    const perWeightAtActivation = ImmutableMap([['5', 1n]]);
    return computeActiveWeight(
      activateWeight({ ...plain.mining, lastActivationRound, perWeightAtActivation }, position),
    );
  });
  expect(weights).toEqual([0n, 7n]);
});
