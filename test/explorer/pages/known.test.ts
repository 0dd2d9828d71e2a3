import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readKnown } from '../../../http/addresses/knownRecords.ts';
import type { Place } from '../../../http/addresses/place.ts';
import { findKnown } from '../../../http/explorer/charts/observed.ts';
import { describeEvent } from '../../../http/explorer/format/events.ts';
import { describeMerge, findPartner } from '../../../http/explorer/format/merges.ts';
import { writeSentence } from '../../../http/explorer/format/sentence.ts';
import { explainNoMint, explainProjection } from '../../../http/explorer/format/words.ts';
import { daysTable, halfHoursTable, settlementsTable } from '../../../http/explorer/tables/tables.ts';
import recorded from '../../../http/routes/documentation/examples.json' with { type: 'json' };
import { writeCsv } from '../../../http/server/pages/tableFiles.ts';
import { exampleChain as mainnet, renderExample as render } from './renderExample.ts';

const { bodies } = recorded;
const { measurement } = bodies.Status.answer;
const { activity } = bodies.Statistics.answer;

const glance: Place = { view: 'glance' };
const places: readonly Place[] = [
  glance,
  { view: 'statistics', range: '7d' },
  { view: 'settlements', range: '7d' },
  { view: 'owners', address: null },
  { view: 'feed', category: 'all' },
  { view: 'missing', reason: 'Nothing.', others: [] },
];
const measuredBy = (provenance: string) => ({
  '/v1/status': { ...bodies.Status.answer, measurement: { ...measurement, provenance } },
});

it('a round from which a miner earns has its time, unless no date is so late', () => {
  const [event] = bodies.EventFeed.answer.events;
  const shown = (firstRound: string) => {
    const payload = { tokenId: '7', weight: '1', firstRound, owner: `0x${'12'.repeat(20)}` };
    const minted = { ...event, type: 'player.miner_minted', payload };
    const feed = { ...bodies.EventFeed.answer, events: [minted] };
    return render({ view: 'feed', category: 'all' }, { '/v1/events': feed }).text;
  };
  expect(shown('1000')).toMatch(/It earns from round 1,000 \( \d/);
  expect(shown(String(2n ** 64n - 1n))).toContain('It earns from round 18,446,744,073,709,551,615 .');
});

it('a transaction that only transferred miners says who gave which to whom', () => {
  const transactionHash = `0x${'ab'.repeat(32)}`;
  const [claim] = bodies.OwnerActivity.answer.activity;
  const [from, to] = ['12', '34'].map((digits) => `0x${digits.repeat(20)}`);
  const transfer = { ...claim, kind: 'transfer', tokenIds: ['7'], amountBaseUnits: null, from, to };
  const place: Place = { view: 'transaction', id: transactionHash };
  const path = `/v1/transactions/${transactionHash}`;
  const shown = (transfers: readonly object[]) =>
    render(place, { [path]: { ...bodies.Transaction.answer, transactionHash, events: [], transfers } }).text;
  expect(shown([transfer])).toContain('0x121212…1212 gave miner 7 to 0x343434…3434');
  expect(shown([transfer])).not.toContain('No events for this transaction.');
  expect(shown([])).toContain('No events for this transaction.');
});

describe('what is not real', () => {
  it.each([
    ['simulated', 'anvil', 'Simulated figures, nothing is real.', 'simulated'],
    ['simulated', 'mainnet', 'Simulated figures, nothing is real.', 'simulated'],
    ['replay', 'mainnet', 'Replay of a recording: these figures are not live.', 'replay'],
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
      expect(text).toContain('· Ethereum');
    }
  });
});

describe('a chain that cannot be read', () => {
  const reason = 'indexer_unavailable';
  const lastKnown = { blockNumber: '1234', at: '2026-11-25T21:47:00.000Z' };

  it('is said once on every page, with the date of its figures', () => {
    for (const place of places) {
      const { text } = render(place, {}, { chain: { target: 'sepolia', reason, lastKnown } });
      const said =
        'The Sepolia test network is no longer read. Its figures are of block 1,234. Later blocks are not known yet. (that block: 33 min 47 s ago )';
      expect(text.split(said)).toHaveLength(2);
      const nothing = render(place, {}, { chain: { target: 'mainnet', reason, lastKnown: null } });
      expect(nothing.text).toContain('Ethereum cannot be shown. The chain is unavailable');
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
  ['closures that do not continue', mainnet, 'unavailable', 'do not follow the last settled round'],
  ['a gap since the last closure', mainnet, 'available', 'was not fully observed'],
] as const)('a projection that has a gap has its own cause: %s', (_, chain, status, words) => {
  const settlementQueue = { status, reason: 'round_projection_gap' } as never;
  const oracle = bodies.Status.answer.oracle as never;
  expect(explainProjection('round_projection_gap', { settlementQueue, oracle }, chain)).toContain(words);
});

describe('what does not work', () => {
  const status = bodies.Status.answer;
  const queue = status.settlementQueue;
  const waits = { ...bodies.SettlementHistory.answer };
  const at = (hours: number) => new Date(Date.UTC(2026, 10, 25, hours)).toISOString();
  const checkpoints = [22, 20, 18, 16].map((hours) => ({
    ...waits.mining.recentCheckpoints[0],
    blockTimestamp: at(hours),
  }));
  const usual = {
    '/v1/settlements': { ...waits, mining: { ...waits.mining, recentCheckpoints: checkpoints } },
  };
  const withQueue = (change: object) => ({ settlementQueue: { ...queue, ...change } });
  const ofWheel = (change: object) => ({ measurement: { ...measurement, ...change } });
  const ofOracle = (change: object) => ({ oracle: { ...status.oracle, ...change } });
  const core = bodies.CoreState.answer;
  const paused = { '/v1/core': { ...core, core: { ...core.core, paused: true } } };

  it.each<[string, object, string | null, boolean?, object?]>([
    ['nothing', {}, null, true],
    ['a silent wheel', ofWheel({ freshness: 'stale' }), 'The wheel is out of touch. It may', true],
    [
      'a faulty counter',
      ofWheel({ coreStatus: 'COUNTER_FAULT' }),
      'The counter reports a fault. Its speed',
      true,
    ],
    [
      'a blocked oracle',
      ofOracle({ state: 'blocked', reason: 'gate' }),
      'The oracle is blocked. It says: “gate”. ',
    ],
    ['a late oracle', ofOracle({ state: 'stale' }), 'The oracle has closed no round for 20 minutes. '],
    [
      'an incident',
      withQueue({ state: 'blocked', blockedReason: 'incident_open' }),
      'Settlement is blocked. An incident is open',
    ],
    ['settlement off', withQueue({ state: 'disabled' }), 'Settlement is switched off. '],
    ['a silent reporter', withQueue({ state: 'stale' }), 'The reporter is silent. '],
    [
      'a reporter that may not send',
      withQueue({ reporterEnvironmentEnabled: false }),
      'The reporter may not send batches. ',
    ],
    ['a paused contract', {}, 'The core contract is paused. ', false, paused],
    ['a batch under way', withQueue({ state: 'submitted' }), null, true],
  ])(
    'is said on every page, and nothing is expected meanwhile: %s',
    (_, change, title, isExpected = false, others = {}) => {
      const shown = { ...usual, '/v1/status': { ...status, ...change }, ...others };
      for (const place of places) {
        const { text } = render(place, shown);
        expect([place.view, text.includes('Status of all parts')]).toEqual([place.view, title !== null]);
        if (title !== null) expect([place.view, text.split(title).length]).toEqual([place.view, 2]);
      }
      expect(render(glance, shown).text.includes('The next mint is expected')).toBe(isExpected);
      const said = render({ view: 'status' }, shown).text;
      expect(said.split('No known problem.')).toHaveLength(title === null ? 5 : 4);
    },
  );

  it('marks the figures of a counter with a fault', () => {
    const ofToday = { ...measurement, observedAt: status.generatedAt };
    const mark = 'may be wrong: the counter reports a fault';
    const show = (coreStatus: string) =>
      render(glance, { '/v1/status': { ...status, measurement: { ...ofToday, coreStatus } } }).text;
    expect(show('COUNTER_FAULT')).toMatch(new RegExp(`Turning at unknown .*Today [\\d.]+.*${mark}`));
    expect(show('ACTIVE')).not.toContain(mark);
  });

  it('is not a mint once all tokens are minted: none is expected', () => {
    const mining = { ...usual['/v1/settlements'].mining, unmintedCapacityBaseUnits: '0' };
    const all = { '/v1/settlements': { ...usual['/v1/settlements'], mining } };
    expect(render(glance, usual).text).toContain('The next mint is expected');
    expect(render(glance, all).text).not.toContain('The next mint is expected');
  });
});

describe('a merge', () => {
  const [like] = bodies.Portfolio.answer.positions;
  const position = (tokenId: string, level: number, mergeState: string) =>
    ({ ...like, tokenId, level, mergeState, blocksUntilMerge: '10' }) as Parameters<typeof describeMerge>[0];
  const [one, two, three, cooling] = [
    position('1', 1, 'ready'),
    position('2', 1, 'ready'),
    position('3', 2, 'ready'),
    position('4', 2, 'cooldown'),
  ] as const;
  const settled = (hours: number, lastCompletedBlock: string) => ({
    blockTimestamp: new Date(Date.UTC(2026, 10, 25, hours)).toISOString(),
    lastCompletedBlock,
  });
  const history = { recentSettlements: [settled(20, '40'), settled(10, '20')] } as never;

  it('takes a second ready miner of the same level', () => {
    const all = [one, two, three, cooling];
    const say = (of: typeof one, partner = findPartner(of, all)) =>
      writeSentence(describeMerge(of, partner, history));
    expect(say(one)).toBe('ready, with miner 2');
    expect(say(three)).toBe('ready, needs a second ready miner of level 2');
    expect(writeSentence(describeMerge(three, null, history))).toBe(
      'ready, with a second ready miner of level 2',
    );
    // Twenty blocks in ten hours.
    expect(say(cooling)).toBe('in 10 work blocks, about 5 h');
    expect(writeSentence(describeMerge(cooling, undefined, null))).toBe('in 10 work blocks');
  });
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
      /settled on Ethereum and rewarded with tokens\. As of 25 Nov 2026 \d\d:\d\d UTC: The wheel is (?:turning|resting)\.$/,
    );
    const round = render({ view: 'round', id: '1' }, { '/v1/rounds/1': bodies.RoundRecord.answer });
    expect(round.findMeta('description')).toMatch(/ As of 25 Nov 2026 \d\d:\d\d UTC\.$/);
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

it('any miner may be there while nothing is known', () => {
  expect(readKnown(null, 0).mayBeMiner('7')).toBe(true);
});

it('says in every state what the wheel is', () => {
  const what = 'Every turn of a wheel is counted as work, settled on Ethereum and rewarded with tokens.';
  const states = [
    { ...measurement, freshness: 'stale' },
    { ...measurement, coreStatus: 'COUNTER_FAULT' },
    { ...measurement, rpmMilli: 0, speedMmPerSecond: 0 },
    { ...measurement, rpmMilli: 60_000 },
    null,
  ].map((one) => ({ ...bodies.Status.answer, measurement: one }));
  for (const status of [...states, null])
    expect(render(glance, { '/v1/status': status }).text.split(what).length - 1).toBe(1);
});

it('a half hour that has not ended is hollow, with the work of its ended rounds', () => {
  const today = activity.days.at(-1) as (typeof activity.days)[number];
  const readRunning = (workUnits: string | null) => {
    const buckets = today.buckets.map((bucket) =>
      bucket.startMinuteUtc === 1_320
        ? { ...bucket, coverage: workUnits === null ? 'future' : 'partial', workUnits }
        : bucket,
    );
    const days = [...activity.days.slice(0, -1), { ...today, buckets }];
    const generatedAt = '2026-11-25T22:25:00.000Z';
    const statistics = { ...bodies.Statistics.answer, generatedAt, activity: { ...activity, days } };
    const { html } = render(glance, { '/v1/measurement/stats': statistics });
    const row = /<td>2026-11-25 22:00<\/td><td>2026-11-25 22:30.*?<\/tr>/.exec(html)?.[0];
    return {
      text: /‹halfHour 2026-11-25T22:00:00.000Z›: ([^,\n]*)/.exec(html)?.[1],
      isHollow: /<rect class="(?:column|zero) running"/.test(html),
      row: row?.replace(/<[^>]*>/g, ' '),
    };
  };
  expect(readRunning('400')).toMatchObject({ text: '400 work units in its ended rounds', isHollow: true });
  expect(readRunning('400').row).toMatch(/ 400 +so far /);
  expect(readRunning('0').isHollow).toBe(true);
  expect(readRunning(null)).toMatchObject({ text: 'unknown so far', isHollow: false });
});

describe('days before the first reading or round', () => {
  const firstObservedAt = '2026-11-23T22:10:00.000Z';
  const days = activity.days.map((day) =>
    day.date > '2026-11-23'
      ? day
      : {
          ...day,
          coverage: { expectedRoundCount: 144, observedRoundCount: 0, coverageBps: 0 },
          observedWorkUnits: '0',
          distanceMm: null,
          buckets: day.buckets.map((bucket) => ({
            ...bucket,
            coverage: 'missing',
            observedRoundCount: 0,
            workUnits: null,
          })),
        },
  );
  const { lifetime } = bodies.Statistics.answer;
  const statistics = {
    ...bodies.Statistics.answer,
    lifetime: { ...lifetime, firstObservedAt },
    activity: { ...activity, days },
  };

  it('are not missing: in the heat map, charts and table', () => {
    const { html, text } = render(
      { view: 'statistics', range: '7d' },
      { '/v1/measurement/stats': statistics, '/v1/core': null },
    );
    expect(html).toContain('‹dayAndHalfHour 2026-11-22T12:00:00.000Z›: before the first reading or round');
    expect(html).toContain('‹dayAndHalfHour 2026-11-23T21:30:00.000Z›: before the first reading or round');
    expect(html).toContain('‹dayAndHalfHour 2026-11-23T22:30:00.000Z›: unknown, missing');
    expect(html).toContain('aria-label="22 Nov: before the first reading or round"');
    expect(html).toContain('\n22 Nov: before the first reading or round');
    expect(text).toMatch(
      /2026-11-22 2026-11-22 12:00 2026-11-23 12:00 unknown unknown unknown 0 0 before the first reading or round/,
    );
    expect(text).toContain('The first reading was at 23 Nov 22:10 UTC');
  });

  it('end with the genesis if that is later: no round was before it', () => {
    const { CoreState } = bodies;
    const genesisTimestamp = String(Date.parse('2026-11-24T12:00:00.000Z') / 1000);
    const configuration = { ...CoreState.answer.configuration, genesisTimestamp };
    const core = { ...CoreState.answer, configuration };
    const { html } = render(
      { view: 'statistics', range: '7d' },
      { '/v1/measurement/stats': statistics, '/v1/core': core },
    );
    expect(html).toContain('‹dayAndHalfHour 2026-11-24T11:30:00.000Z›: before the first reading or round');
  });

  it('are said in the files', () => {
    const known = findKnown(statistics as never, () => null);
    expect(writeCsv(daysTable(days as never, known.firstObservedMs))).toContain(
      '2026-11-22,2026-11-22T12:00:00Z,2026-11-23T12:00:00Z,,,,0,0,before the first reading or round',
    );
    expect(writeCsv(halfHoursTable(days as never, known))).toContain(
      '2026-11-22T12:30:00Z,,before the first reading or round,0',
    );
  });
});

it('an unfinished day is hollow', () => {
  const { html } = render({ view: 'statistics', range: '7d' });
  const chart = html.slice(html.indexOf('id="chart-work"'), html.indexOf('id="chart-distance"'));
  expect(chart.match(/<rect class="column running"/g)).toHaveLength(1);
  expect(chart).toContain('work units (100\u00a0% observed so far)');
});

it('the distance of a day is known even if none of its rounds was observed', () => {
  const none = { expectedRoundCount: 144, observedRoundCount: 0, coverageBps: 0 };
  const lifetime = { ...bodies.Statistics.answer.lifetime, firstObservedAt: '2026-01-31T12:00:00.000Z' };
  const days = activity.days.map((day, index) =>
    index === 2 ? { ...day, coverage: none, distanceMm: '5000000' } : { ...day, distanceMm: null },
  );
  const { html } = render(
    { view: 'statistics', range: '7d' },
    {
      '/v1/measurement/stats': { ...bodies.Statistics.answer, lifetime, activity: { ...activity, days } },
      // Without the genesis, no round is before it.
      '/v1/core': null,
    },
  );
  const [, work = '', distance = ''] = html.split(/id="chart-(?:work|distance)"/);
  const shapes = (chart: string) =>
    [...chart.matchAll(/<rect class="([^"]*)" x="21"/g)].map(([, one]) => one);
  expect([shapes(work), shapes(distance)]).toEqual([['missing'], ['missing', 'column partial']]);
  // Nor is it zero if no reading has told it.
  expect(distance.match(/<rect class="missing"/g)).toHaveLength(6);
});

it('files of settlements are in order and hold nothing to come', () => {
  const { answer } = bodies.SettlementHistory;
  const lines = writeCsv(settlementsTable(answer as never))
    .trimEnd()
    .split('\r\n');
  const starts = lines.slice(1).map((line) => line.split(',')[0] ?? '');
  expect(starts).toEqual([...starts].sort());
  expect(starts.every((at) => at <= answer.generatedAt)).toBe(true);
  expect(starts.length).toBeLessThan(answer.buckets.length);
});

describe('a zero', () => {
  const { mining } = bodies.SettlementHistory.answer;
  const next = (completedBlockCount: string, unmintedCapacityBaseUnits: string, amountBaseUnits = '0') =>
    explainNoMint({
      ...mining,
      unmintedCapacityBaseUnits,
      nextRound: { ...mining.nextRound, completedBlockCount, amountBaseUnits },
    } as never);

  it('has its reason: why nothing would be minted', () => {
    expect(next('0', '9')).toContain('No work block was completed since the last mint');
    expect(next('15', '0')).toContain('for 15 work blocks: the maximum supply has been minted.');
    expect(next('15', '9')).toContain(
      'for 15 work blocks: no miner was active in the rounds that completed them.',
    );
    expect(next('15', '9', '1')).toBeNull();
  });

  it('has its reason: why nothing was minted', () => {
    const checkpoint = bodies.EventFeed.answer.events.find(
      ({ type }) => type === 'system.mining_checkpointed',
    );
    const describe = (change: object) =>
      describeEvent({ ...checkpoint, payload: { ...checkpoint?.payload, ...change } } as never);
    const { title, sentence } = describe({ amountBaseUnits: '0', completedBlockCount: '15' });
    expect(title).toBe('Nothing minted');
    expect(writeSentence(sentence)).toMatch(
      /^Nothing was minted for 15 work blocks of rounds .*: no miner was active .*, or the maximum supply/,
    );
    const withoutBlocks = describe({ amountBaseUnits: '0', completedBlockCount: '0' });
    expect(writeSentence(withoutBlocks.sentence)).toContain('completed no work block');
  });
});

it('a live miner says which of its transfers are shown, and where all are', () => {
  const place: Place = { view: 'miner', id: '1' };
  const { answer } = bodies.Miner;
  const metadata = { '/v1/miners/1/metadata': bodies.TokenMetadata.answer };
  const { html, text } = render(place, { ...metadata, '/v1/miners/1': answer });
  expect(text).toContain('Only transfers among the newest actions of its owner are listed.');
  expect(html).toContain(`<a href="/owners/${answer.owner}">All actions of the owner</a>`);
  const merged = { ...answer, owner: null, position: null, transfers: [] };
  expect(render(place, { ...metadata, '/v1/miners/1': merged }).text).not.toContain('Only transfers');
});

it('many miners of a claim are folded, with a link to each', () => {
  const claim = bodies.EventFeed.answer.events.find(({ type }) => type === 'player.rewards_claimed');
  const tokenIds = ['1', '2', '3', '4', '5', '6', '7'];
  const events = [{ ...claim, payload: { ...claim?.payload, tokenIds } }];
  const { html } = render(
    { view: 'feed', category: 'all' },
    { '/v1/events': { ...bodies.EventFeed.answer, events } },
  );
  const fold = /for <details class="fold"><summary>7 miners<\/summary>(.*?)<\/details>\./.exec(html)?.[1];
  expect([...(fold ?? '').matchAll(/\/miners\/(\d)/g)].map(([, id]) => id)).toEqual(tokenIds);
});

it('batches without work in a row are folded', () => {
  const mint = bodies.EventFeed.answer.events.find(({ type }) => type === 'system.mining_checkpointed');
  const make = (type: string, id: string, change: object) => ({
    ...mint,
    type,
    id,
    payload: { ...mint?.payload, ...change },
  });
  const empty = (id: string, after: string, through: string) =>
    make('system.settlement_completed', id, {
      previousSettledThroughRound: after,
      settledThroughRound: through,
      workAdded: '0',
      completedBlockCount: '0',
    });
  const events = [
    make('system.mining_checkpointed', 'e', {}),
    empty('d', '1018', '1024'),
    make('system.mining_checkpointed', 'c', { completedBlockCount: '0', amountBaseUnits: '0' }),
    empty('b', '1006', '1012'),
    make('system.mining_checkpointed', 'a', {}),
    empty('2', '994', '1000'),
    empty('1', '988', '994'),
  ];
  const body = { ...bodies.EventFeed.answer, events };
  const { html } = render({ view: 'feed', category: 'protocol' }, { '/v1/events': body });
  const listed = html.match(
    /(?<=<li class="event (?:settled|issued)" )id="(?:run-)?\w"|\d+ empty batches.*?work\./g,
  );
  const item = (id: string) => `id="${id}"`;
  const run = [
    item('run-b'),
    '2 empty batches</strong> Rounds 1,007 to 1,024 had no work.',
    item('d'),
    item('c'),
    item('b'),
  ];
  const oldest = '2 empty batches</strong> Rounds 989 to 1,000 had no work.';
  expect(listed).toEqual([item('e'), ...run, item('a'), item('run-1'), oldest, item('2'), item('1')]);
});
