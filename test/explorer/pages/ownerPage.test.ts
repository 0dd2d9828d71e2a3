import { describe, expect, it } from 'vitest';
import { describeShare, projectShare } from '../../../http/explorer/format/shares.ts';
import type { Place } from '../../../http/explorer/place.ts';
import { renderPage } from '../../../http/explorer/renderPage.tsx';
import { toReadBody } from '../../../http/explorer/resources.ts';
import recorded from '../../../http/routes/documentation/examples.json' with { type: 'json' };

const { bodies } = recorded;
const portfolio = bodies.Portfolio.answer;
const history = bodies.SettlementHistory.answer;
const { owner, summary } = portfolio;
type Changes = { portfolio?: object; mining?: object; activity?: object[]; miner?: object };

function render(place: Place, changes: Changes = {}) {
  const byPath: readonly (readonly [RegExp, unknown])[] = [
    [/^\/v1\/owners\/[^/]*\/miners/, { ...portfolio, ...changes.portfolio }],
    [
      /^\/v1\/owners\/[^/]*\/activity/,
      { ...bodies.OwnerActivity.answer, ...(changes.activity && { activity: changes.activity }) },
    ],
    [/^\/v1\/settlements/, { ...history, mining: { ...history.mining, ...changes.mining } }],
    [/metadata$/, bodies.TokenMetadata.answer],
    [/^\/v1\/miners/, changes.miner ?? null],
    [/^\/v1\/status/, bodies.Status.answer],
  ];
  const { html } = renderPage({
    place,
    nowMs: Date.parse(bodies.Status.answer.generatedAt),
    settings: { transactionUrl: null, publicUrl: null, files: {} },
    read: toReadBody((path) => byPath.find(([pattern]) => pattern.test(path))?.[1] ?? null),
    chain: { target: 'anvil', reason: null, lastKnown: null },
    old: new Map(),
  });
  /** Text of each figure, without what it shows when it is pressed. */
  const figures = [...html.matchAll(/class="figure [\s\S]*?<dialog/g)].map(([figure]) =>
    figure
      .replace(/<[^>]*(?:>|$)/g, ' ')
      .replace(/&nbsp;|\s+/g, ' ')
      .replace(/^.*?> /, '')
      .trim(),
  );
  return { html, figures };
}

describe('the page of an owner', () => {
  const place: Place = { view: 'owners', address: owner };

  it('answers how much, what share, and what is next', () => {
    const { html, figures } = render(place, {
      portfolio: { summary: { ...summary, claimableBaseUnits: '1500000000000000000' } },
      mining: {
        nextRound: {
          ...history.mining.nextRound,
          state: 'ready',
          countedThroughRound: '175',
          amountBaseUnits: '100000000000000000000',
        },
        recentCheckpoints: [22, 16, 20, 18].map((hour) => ({
          ...history.mining.recentCheckpoints[0],
          blockTimestamp: `2026-11-25T${hour}:00:00.000Z`,
        })),
      },
    });
    expect(figures.map((figure) => figure.replace(/ (?:weight 6|through|in 7).*/, ''))).toEqual([
      'Claimable 1.5 SQK',
      'Earned in all 2,505.5529 SQK',
      // 6,000 of 28,610.
      'Share of the weight 20.97 %',
      'Projected at the next mint 20.9716 SQK',
      'Miners 6',
    ]);
    expect(html).toContain('through round 175');
    expect(html).toMatch(
      /a mint about every 2 h 00 min, the next about <time[^>]* datetime="2026-11-26T00:00:00.000Z"/,
    );
    expect(html).toMatch(/data-copy="0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc"/);
  });

  it('promises nothing while nothing settled waits to be minted, and invents nothing without rewards', () => {
    const nothing = render(place, {
      mining: { nextRound: { ...history.mining.nextRound, amountBaseUnits: '0' } },
    });
    // One mint tells no rhythm.
    expect(nothing.html).toContain('a mint has no fixed time, the last was on');
    expect(nothing.figures).toContainEqual(
      expect.stringMatching(/^Projected at the next mint 0 SQK nothing settled waits/),
    );
    const late = render(place, {
      mining: {
        recentCheckpoints: [10, 4, 8, 6].map((hour) => ({
          ...history.mining.recentCheckpoints[0],
          blockTimestamp: `2026-11-25T${String(hour).padStart(2, '0')}:00:00.000Z`,
        })),
      },
    });
    expect(late.html).toMatch(/a mint was expected about <time[^>]* datetime="2026-11-25T12:00:00.000Z"/);
    const none = render(place, { mining: { status: 'unavailable', reason: 'not_configured' } });
    expect(none.figures).toContainEqual(expect.stringMatching(/^Projected at the next mint unknown/));
    const weightless = render(place, { portfolio: { mining: { ...portfolio.mining, totalWeight: '0' } } });
    expect(weightless.figures).toContainEqual(expect.stringMatching(/^Share of the weight unknown/));
  });

  it('names the columns in each cell, for phones', () => {
    expect(render(place).html).toMatch(/<td data-label="Weight" class="number">/);
  });
});

describe('the page of a miner', () => {
  const place: Place = { view: 'miner', id: '1' };
  const miner = { ...bodies.Miner.answer, owner };
  const [act] = bodies.OwnerActivity.answer.activity;
  const transfer = {
    ...act,
    id: 'this',
    kind: 'transfer',
    tokenIds: ['1'],
    amountBaseUnits: null,
    from: `0x${'cd'.repeat(20)}`,
    to: owner,
  };

  it('has owner, earnings, level, weight and transfers', () => {
    const { html, figures } = render(place, { miner: { ...miner, transfers: [transfer] } });
    expect(html).toContain(`href="/owners/${owner}"`);
    expect(figures).toEqual([
      expect.stringMatching(/^Claimable [\d,.]+ SQK$/),
      expect.stringMatching(/^Earned [\d,.]+ SQK$/),
      'Level 1 of 10',
      expect.stringMatching(/^Weight 1,000 \d\.\d\d % of all/),
    ]);
    expect(html).toContain('Received miner <a href="/miners/1">1</a> from <a href="/owners/0xcd');
  });

  it('says when it can be merged', () => {
    const waiting = {
      ...miner.position,
      mergeState: 'cooldown',
      blocksUntilMerge: '5',
      nextMergeBlock: '1200',
    };
    const { html } = render(place, { miner: { ...miner, position: waiting } });
    expect(html).toContain('Merge: in 5 work blocks, at work block 1,200.');
  });

  it('has only its metadata while its record cannot be read', () => {
    expect(render(place).figures).toEqual([]);
  });
});

describe('shares', () => {
  it.each([
    ['1', '3', '33.33'],
    ['1', '1000000', '< 0.01'],
    ['0', '5', '0'],
    ['5', '5', '100'],
    ['0', '0', null],
  ])('%s of %s is %s percent', (part, whole, text) => {
    expect(describeShare(part, whole).value).toBe(text);
  });

  it('are rounded down for amounts, and unknown without weight', () => {
    expect([projectShare('100', '1', '3'), projectShare('100', '1', '0')]).toEqual(['33', null]);
  });
});
