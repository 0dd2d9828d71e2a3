import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { explainProjection } from '../../../http/explorer/format/words.ts';
import type { PageChain, PageRequest } from '../../../http/explorer/page.ts';
import type { Place } from '../../../http/explorer/place.ts';
import { renderPage } from '../../../http/explorer/renderPage.tsx';
import recorded from '../../../http/routes/documentation/examples.json' with { type: 'json' };

const { bodies } = recorded;
const { measurement } = bodies.Status.answer;
const nowMs = Date.parse(bodies.Status.answer.generatedAt);
const mainnet: PageChain = { target: 'mainnet', reason: null, lastKnown: null };
const examples: readonly (readonly [path: string, body: unknown])[] = [
  ['/v1/status', bodies.Status.answer],
  ['/v1/core', bodies.CoreState.answer],
  ['/v1/mining/state', bodies.MiningState.answer],
  ['/v1/measurement/stats', bodies.Statistics.answer],
  ['/v1/measurement/year', bodies.Year.answer],
  ['/v1/settlements', bodies.SettlementHistory.answer],
  ['/v1/events', bodies.EventFeed.answer],
];

const { activity } = bodies.Statistics.answer;
const month = Array.from({ length: 23 }, (_, index) => ({
  ...(activity.days[0] as (typeof activity.days)[number]),
  date: new Date(Date.parse(activity.days[0]?.date ?? '') - (23 - index) * 86_400_000)
    .toISOString()
    .slice(0, 10),
}));
const statisticsOfMonth = {
  ...bodies.Statistics.answer,
  range: '30d',
  activity: { ...activity, days: [...month, ...activity.days] },
};

/** Renders a page with the examples, or other bodies by path. */
function render(
  place: Place,
  bodiesByPath: Readonly<Record<string, unknown>> = {},
  change: Partial<PageRequest> = {},
) {
  const read = (path: string) => {
    const [name = ''] = path.split('?');
    if (path.endsWith('range=30d') && name.endsWith('stats')) return statisticsOfMonth;
    return name in bodiesByPath ? bodiesByPath[name] : examples.find(([one]) => one === name)?.[1];
  };
  const settings = { transactionUrl: null, publicUrl: 'https://wheel.example', files: {} };
  const { html } = renderPage({ place, nowMs, settings, chain: mainnet, events: [], read, ...change });
  const text = html
    .replace(/<(dialog|noscript).*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
  const findMeta = (name: string) =>
    new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)"`).exec(html)?.[1] ?? '';
  return { html, text, findMeta };
}

const glance: Place = { view: 'glance' };
const places: readonly Place[] = [
  glance,
  { view: 'statistics', range: '7d' },
  { view: 'settlements', range: '7d' },
  { view: 'owners', address: null },
  { view: 'feed', category: 'all' },
  { view: 'embed' },
  { view: 'missing', reason: 'Nothing.', others: [] },
];
const measuredBy = (provenance: string) => ({
  '/v1/status': { ...bodies.Status.answer, measurement: { ...measurement, provenance } },
});

describe('what is not real', () => {
  it.each([
    ['simulated', 'anvil', 'Simulated wheel: nothing here is real.', 'simulated'],
    ['simulated', 'mainnet', 'Simulated wheel: nothing here is real.', 'simulated'],
    ['replay', 'mainnet', 'Replay of a recording: nothing here happens now.', 'replay'],
    ['hardware', 'sepolia', 'Sepolia test network: its tokens are worth nothing.', 'Sepolia test network'],
  ] as const)('is said on every page: a wheel that is %s, on %s', (provenance, target, sentence, short) => {
    for (const place of places) {
      const { html, text, findMeta } = render(place, measuredBy(provenance), {
        chain: { ...mainnet, target },
      });
      expect([place.view, text.split(sentence).length - 1]).toEqual([place.view, 1]);
      expect(/<title>(.*?)<\/title>/.exec(html)?.[1]).toMatch(
        new RegExp(` · Mining activity \\(${short}\\)$`),
      );
      expect(findMeta('og:title')).toContain(`(${short})`);
      expect(findMeta('og:description')).toContain(sentence);
    }
  });

  it('is not said of a real wheel on Ethereum, whose name is there', () => {
    for (const place of places) {
      const { html, text } = render(place, measuredBy('hardware'));
      expect(html).not.toContain('class="unreal"');
      if (place.view !== 'embed') expect(text).toContain('· Ethereum');
    }
  });
});

describe('a chain that cannot be read', () => {
  const reason = 'indexer_unavailable';
  const lastKnown = { blockNumber: '1234', at: '2026-11-25T21:47:00.000Z' };

  it('is said once on every page, with the date of its figures', () => {
    for (const place of places) {
      if (place.view === 'embed') continue;
      const { text } = render(place, {}, { chain: { target: 'sepolia', reason, lastKnown } });
      expect(text).toContain(
        'The Sepolia test network has not been read past 25 Nov 21:47 UTC . Its figures are of then, at chain block 1,234.',
      );
      const nothing = render(place, {}, { chain: { target: 'mainnet', reason, lastKnown: null } });
      expect(nothing.text).toContain('Nothing of Ethereum can be shown. The chain cannot be read');
    }
  });

  it('is no reason to say that the chain was reorganized', () => {
    expect(render(glance).html).toContain('data-settled=');
    expect(render(glance, {}, { chain: { ...mainnet, reason, lastKnown } }).html).not.toContain(
      'data-settled=',
    );
  });
});

it.each([
  ['no chain', null, 'available', 'not connected to a chain'],
  [
    'a chain that is not read',
    { ...mainnet, reason: 'indexer_unavailable' },
    'unavailable',
    'Ethereum cannot be read',
  ],
  ['closures that do not continue', mainnet, 'unavailable', 'do not continue what is settled'],
  ['a gap since the last closure', mainnet, 'available', 'was not observed from beginning to end'],
] as const)('a projection that has a gap has its own cause: %s', (_, chain, status, words) => {
  const settlementQueue = { status, reason: 'round_projection_gap' } as never;
  expect(explainProjection('round_projection_gap', { settlementQueue }, chain)).toContain(words);
});

describe('a shared link', () => {
  it('has no state in its title, which would be frozen', () => {
    const { html, findMeta } = render(glance, measuredBy('hardware'));
    expect(/<title>(.*?)<\/title>/.exec(html)?.[1]).toMatch(/^(?:Turning|Resting) · /);
    expect(findMeta('og:title')).toBe(`${bodies.Status.answer.installationId} · Mining activity`);
    expect(render({ view: 'feed', category: 'all' }).findMeta('og:title')).toMatch(/^Feed · /);
  });

  it('has a description with its date', () => {
    const { findMeta } = render(glance, measuredBy('hardware'));
    expect(findMeta('og:description')).toMatch(
      /settled on Ethereum, and rewarded with tokens\. As of 25 Nov 2026 \d\d:\d\d UTC: The wheel is (?:turning|resting)\.$/,
    );
    const events = bodies.EventFeed.answer.events as unknown as PageRequest['events'];
    const event = render({ view: 'event', id: 'chain:1:x' }, {}, { events });
    expect(event.findMeta('description')).toMatch(/ As of 25 Nov 2026 \d\d:\d\d UTC\.$/);
    expect(render({ view: 'statistics', range: '7d' }).findMeta('og:description')).not.toMatch(/Live|\d/);
  });

  it('has a picture without figures, of the size that previews expect', () => {
    const folder = join(import.meta.dirname, '../../../http/explorer');
    const drawn = readFileSync(join(folder, 'preview.svg'), 'utf8');
    expect([...drawn.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) => text).join(' ')).toMatch(/^\D+$/);
    const picture = readFileSync(join(folder, 'files/preview.png'));
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(picture.length).toBeLessThan(60_000);
  });
});

it('says in every state what the wheel is', () => {
  const what = 'A wheel whose every turn is counted as work, settled on Ethereum, and rewarded with tokens.';
  const states = [
    { ...measurement, freshness: 'stale' },
    { ...measurement, coreStatus: 'COUNTER_FAULT' },
    { ...measurement, rpmMilli: 0, speedMmPerSecond: 0 },
    { ...measurement, rpmMilli: 60_000 },
    null,
  ].map((one) => ({ ...bodies.Status.answer, measurement: one }));
  for (const status of [...states, null])
    for (const place of [glance, { view: 'embed' }] as const)
      expect(render(place, { '/v1/status': status }).text.split(what).length - 1).toBe(1);
});
