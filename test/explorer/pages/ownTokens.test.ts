import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Place } from '../../../http/addresses/place.ts';
import { countBlocks, describeRewards } from '../../../http/explorer/format/rewards.ts';
import recorded from '../../../http/routes/documentation/examples.json' with { type: 'json' };
import { runs } from '../../support/propertyRuns.ts';
import { renderExample } from './renderExample.ts';

const { bodies } = recorded;
const { owner } = bodies.Portfolio.answer;
const pinned: Place = { view: 'glance', owner };
const { mining, ...history } = bodies.SettlementHistory.answer;
const nextRound = { ...mining.nextRound, completedBlockCount: '2', amountBaseUnits: '100000000000000000000' };
const projected = (completedBlockCount: string) => ({
  status: 'available',
  projected: { ...bodies.Status.answer.settlementQueue.projected, completedBlockCount },
});
const status = {
  ...bodies.Status.answer,
  settlementQueue: { ...bodies.Status.answer.settlementQueue, ...projected('3') },
  builder: { ...bodies.Status.answer.builder, ...projected('4') },
};
const examples: Readonly<Record<string, unknown>> = {
  '/v1/status': status,
  '/v1/settlements': { ...history, mining: { ...mining, nextRound } },
  [`/v1/owners/${owner}/miners`]: bodies.Portfolio.answer,
  [`/v1/owners/${owner}/activity`]: bodies.OwnerActivity.answer,
};

/** A page, and the figures of its sources with all their digits, by their labels. */
function render(place: Place, changes: Readonly<Record<string, unknown>> = {}) {
  const { html, text } = renderExample(place, { ...examples, ...changes });
  const sources = [...html.matchAll(/data-label="Figure">([^<]*)<\/td><td data-label="In full">([^<]*)/g)];
  const figures = (name: string) => sources.flatMap(([, label, exact]) => (label === name ? [exact] : []));
  return { html, text, figures };
}

const baseUnits = (exact: string | undefined) => {
  const [whole = '', fraction = ''] = (exact ?? '').replace(/,| SQK/g, '').split('.');
  return BigInt(whole + fraction.padEnd(18, '0'));
};

describe('the first page with an owner', () => {
  it('has the figures of the page of the owner, in the stage of each', () => {
    const [first, page] = [render(pinned), render({ view: 'owners', address: owner })];
    expect(first.figures('Paid to you')).toEqual(page.figures('Paid'));
    expect(first.figures('Claimable')).toEqual(page.figures('Claimable'));
    const [measured, optimistic, settled] = first.figures('For you').map(baseUnits);
    // 6,000 of 28,610 of the weight, of one, three and two work blocks of 50 tokens.
    const share = (blocks: bigint) => (blocks * 50n * 10n ** 18n * 6_000n) / 28_610n;
    expect([settled, optimistic, measured]).toEqual([
      share(2n),
      share(5n) - share(2n),
      share(6n) - share(5n),
    ]);
    expect((settled ?? 0n) + (optimistic ?? 0n)).toBe(baseUnits(page.figures('Expected')[0]));
    expect(first.text).toMatch(/Your tokens: owner 0x996550…a4dc · Remove .*For you \+10\.4858 SQK/);
    expect(first.html).toContain('· <a href="/">Remove</a>');
    expect(page.html).toContain(`<a href="/?owner=${owner}">Show on the first page</a>`);
    expect(render({ view: 'glance' }).text).not.toMatch(/For you|to you|Your/);
  });

  it.each<[state: string, changes: Readonly<Record<string, unknown>>, forYou: number, claimable: number]>([
    [
      'what the open round adds',
      { '/v1/status': { ...status, builder: { status: 'unavailable', reason: 'counter_fault' } } },
      2,
      1,
    ],
    [
      'what waits for settlement',
      {
        '/v1/status': {
          ...status,
          settlementQueue: { status: 'unavailable', reason: 'round_projection_gap' },
        },
      },
      1,
      1,
    ],
    [
      'the next mint',
      { '/v1/settlements': { ...history, mining: { status: 'unavailable', reason: 'not_configured' } } },
      0,
      1,
    ],
    [
      'the owner',
      { [`/v1/owners/${owner}/miners`]: { status: 'unavailable', reason: 'indexer_unavailable' } },
      0,
      0,
    ],
  ])('does not show %s while that is not known', (_, changes, forYou, claimable) => {
    const { figures, text } = render(pinned, changes);
    expect([figures('For you').length, figures('Claimable').length]).toEqual([forYou, claimable]);
    if (claimable === 0) expect(text).toContain('The chain is unavailable');
  });

  it('says that an address owns nothing', () => {
    const { summary } = bodies.Portfolio.answer;
    const nothing = {
      ...bodies.Portfolio.answer,
      summary: { ...summary, positionCount: '0', activeWeight: '0' },
    };
    const { text } = render(pinned, { [`/v1/owners/${owner}/miners`]: nothing });
    expect(text).toContain('This address owns no miner at the safe block.');
  });
});

it('rewards of the stages add up to a share of the whole mint, rounded down once', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 26n });
  const few = fc.bigInt({ min: 0n, max: 1_000n });
  fc.assert(
    fc.property(
      fc.record({
        settled: amount,
        reward: amount,
        capacity: amount,
        closed: few,
        open: few,
        weight: few,
        others: few,
      }),
      ({ settled, reward, capacity, closed, open, weight, others }) => {
        const portfolio = {
          ...bodies.Portfolio.answer,
          summary: { ...bodies.Portfolio.answer.summary, activeWeight: String(weight) },
          mining: { ...bodies.Portfolio.answer.mining, totalWeight: String(weight + others) },
        };
        const cap = (all: bigint) => {
          if (all > capacity) return capacity;
          return all;
        };
        const next = {
          ...mining,
          nextRound: { ...nextRound, amountBaseUnits: String(cap(settled)) },
          rewardPerBlock: String(reward),
          unmintedCapacityBaseUnits: String(capacity),
        };
        const blocks = countBlocks({
          settlementQueue: projected(String(closed)),
          builder: projected(String(closed + open)),
        } as never);
        const rewards = describeRewards(portfolio as never, next as never, blocks);
        const { expected, ...stages } = rewards;
        if (weight + others === 0n) {
          expect([expected.exact, stages.settled.exact]).toEqual([null, null]);
          return;
        }
        const whole = settled + (closed + open) * reward;
        const share = (cap(whole) * weight) / (weight + others);
        const parts = [stages.settled, stages.optimistic, stages.measured].map(({ exact }) =>
          baseUnits(exact ?? ''),
        );
        expect(parts.reduce((sum, part) => sum + part)).toBe(share);
        expect((parts[0] ?? 0n) + (parts[1] ?? 0n)).toBe(baseUnits(expected.exact ?? ''));
        expect(parts.every((part) => part >= 0n)).toBe(true);
      },
    ),
    { numRuns: runs(100) },
  );
});
