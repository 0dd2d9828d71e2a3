import { describe, expect, it } from 'vitest';
import type { Place } from '../../../http/addresses/place.ts';
import type { PageChain } from '../../../http/explorer/page.ts';
import recorded from '../../../http/routes/documentation/examples.json' with { type: 'json' };
import { exampleBodies, exampleChain, renderExample } from './renderExample.ts';

const { Status, CoreState, SettlementHistory } = recorded.bodies;
const status = Status.answer;
const nowMs = Date.parse(status.generatedAt);
const batch = CoreState.answer.events.find(({ eventName }) => eventName === 'BatchSettled');
/** A core with enough batches for a forecast. */
const core = {
  ...CoreState.answer,
  events: [1, 2, 3, 4].map((hours) => ({
    ...batch,
    blockTimestamp: String(Math.floor(nowMs / 1000) - hours * 3_600),
  })),
};

const render = (
  place: Place,
  changes: Readonly<Record<string, unknown>> = {},
  chain: PageChain | null = exampleChain,
) => renderExample(place, { '/v1/core': core, ...changes }, { chain }).html;

const readText = (html: string) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
/** What the page says of a part of the work. */
const readPart = (html: string, part: string) =>
  readText(new RegExp(`<li id="${part}".*?</p>`, 's').exec(html)?.[0] ?? '');
const isForecast = (html: string) => /The next batch (?:is|was) expected/.test(readText(html));

const statusPage: Place = { view: 'status' };
const forecasting: readonly Place[] = [{ view: 'glance' }, statusPage];
const parts = ['wheel', 'oracle', 'settlement', 'chain'];
const withQueue = (settlementQueue: object) => ({ '/v1/status': { ...status, settlementQueue } });
const queueOf = (reason: string) => withQueue({ status: 'unavailable', reason });

it('parts that work have no known problem, and the next batch is expected', () => {
  const html = render(statusPage);
  for (const part of parts) expect(readPart(html, part)).toContain('No known problem.');
  for (const place of forecasting) expect(isForecast(render(place))).toBe(true);
});

describe('nothing says that a part works while nobody knows that', () => {
  it.each<[state: string, unknownParts: readonly string[], changes: object, chain?: PageChain | null]>([
    [
      'nothing can be read',
      parts,
      Object.fromEntries(Object.keys(exampleBodies).map((path) => [path, null])),
      null,
    ],
    ['the status cannot be read', ['wheel', 'oracle', 'settlement'], { '/v1/status': null }],
    ['no reading was ever accepted', ['wheel'], { '/v1/status': { ...status, measurement: null } }],
    [
      'the oracle has never closed a round',
      ['oracle', 'settlement'],
      {
        '/v1/status': {
          ...status,
          oracle: { state: 'unavailable', reason: 'no_closure', latestAcceptedAt: null, latestClosure: null },
          settlementQueue: { status: 'unavailable', reason: 'oracle_head_unavailable' },
        },
      },
    ],
    ['the reporter has never said anything', ['settlement'], queueOf('oracle_head_unavailable')],
    [
      'there is no chain',
      ['settlement', 'chain'],
      {
        ...queueOf('round_projection_gap'),
        '/v1/core': { status: 'unavailable', reason: 'indexer_disabled' },
        '/v1/settlements': { status: 'unavailable', reason: 'indexer_disabled' },
      },
      null,
    ],
  ])('%s', (_, unknownParts, changes, chain) => {
    const html = render(statusPage, changes as never, chain);
    const said = parts.filter((part) => readPart(html, part).includes('Not known.'));
    expect(said).toEqual(unknownParts);
    for (const part of unknownParts) expect(readPart(html, part)).not.toContain('No known problem.');
    for (const place of forecasting)
      expect(isForecast(render(place, changes as never, chain))).toBe(!unknownParts.includes('settlement'));
  });

  it('nor a cause that is not known', () => {
    const unread = render(statusPage, { '/v1/status': null });
    expect(readPart(unread, 'wheel')).not.toContain('has not reported yet');
    expect(readPart(unread, 'oracle')).not.toContain('has not closed a round yet');
    for (const place of forecasting) {
      const text = readText(render(place, queueOf('oracle_head_unavailable')));
      expect(text).toContain('The reporter has not said yet whether settlement is enabled.');
      expect(text).not.toContain('The oracle has not closed a round yet.');
    }
  });
});

describe('closed rounds that cannot be settled', () => {
  it.each([
    ['round_ineligible', 'A closed round cannot be settled', 'more work than the core contract accepts'],
    [
      'round_projection_gap',
      'Rounds are missing before the next batch',
      'do not follow the last settled round',
    ],
  ])('are a problem on every page: %s', (reason, title, meaning) => {
    for (const place of forecasting) {
      const html = render(place, queueOf(reason));
      const banner = readText(/<section class="banner".*?<\/section>/s.exec(html)?.[0] ?? '');
      expect(banner).toContain(title);
      expect(banner).toContain(meaning);
      expect(isForecast(html)).toBe(false);
    }
  });

  it('are none while the chain cannot be read: that is the problem', () => {
    const unread = { ...exampleChain, reason: 'indexer_unavailable' };
    const html = render(statusPage, queueOf('round_projection_gap'), unread);
    expect(html.match(/<li id="[^"]*" class="fails"/g)).toEqual(['<li id="chain" class="fails"']);
    expect(readPart(html, 'settlement')).toContain('Not known.');
  });
});

it.each(['blocked', 'disabled', 'stale'])('nothing is expected while the queue is %s', (state) => {
  for (const place of forecasting)
    expect(isForecast(render(place, withQueue({ ...status.settlementQueue, state })))).toBe(false);
});

it('days before the first round have no batches, rather than none', () => {
  const { answer } = SettlementHistory;
  const buckets = ['2026-11-23', '2026-11-24', '2026-11-25'].map((day) => ({
    ...answer.buckets[0],
    startAt: `${day}T00:00:00.000Z`,
    settlementCount: '0',
  }));
  const html = render(statusPage, {
    '/v1/settlements': { ...answer, buckets },
    '/v1/core': {
      ...core,
      configuration: {
        ...core.configuration,
        genesisTimestamp: String(Date.parse('2026-11-24T12:00:00.000Z') / 1000),
      },
    },
  });
  const settlement = /<li id="settlement".*?<\/ol>/s.exec(html)?.[0] ?? '';
  expect([...settlement.matchAll(/<li[^>]* title="([^"]*)"/g)].map(([, text]) => text)).toEqual([
    '23 Nov: before the first round',
    '24 Nov: 0 batches',
    '25 Nov: 0 batches',
  ]);
});
