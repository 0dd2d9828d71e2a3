import { expect, it } from 'vitest';
import type { Place } from '../../../http/addresses/place.ts';
import { renderPage } from '../../../http/explorer/renderPage.tsx';
import { toReadBody } from '../../../http/explorer/resources.ts';
import recorded from '../../../http/routes/documentation/examples.json' with { type: 'json' };

const { bodies } = recorded;
const nowMs = Date.parse(bodies.Status.answer.generatedAt) + 61_000;
const settings = {
  transactionUrl: 'https://chain.example/tx/',
  publicUrl: 'https://wheel.example',
  files: Object.fromEntries(
    ['style.css', 'page.js', 'preview.png', 'wheel-turning.svg'].map((name) => [name, `/explorer/${name}`]),
  ),
};
const chain = { target: 'anvil', reason: null, lastKnown: null } as const;
/** Figures that differ from each other. */
const measurement = {
  ...bodies.Status.answer.measurement,
  rpmMilli: 42_150,
  speedMmPerSecond: 700,
  cumulativeWorkUnits: '81234',
};
const { owner, positions, summary } = bodies.Portfolio.answer;
const portfolio = {
  ...bodies.Portfolio.answer,
  summary: { ...summary, targetWeight: '7000', earnedSevenDayBaseUnits: '2000000000000000000' },
  positions: [
    { mergeState: 'cooldown', blocksUntilMerge: '5', claimableBaseUnits: '1500000000000000000' },
    { mergeState: 'pending', pendingActivationSource: 'merge', pendingRound: '2000', targetWeight: '3000' },
    { mergeState: 'terminal' },
  ].map((change, index) => ({ ...positions[index % 2], tokenId: `${index + 1}`, ...change })),
};
const [act] = bodies.OwnerActivity.answer.activity;
const other = `0x${'cd'.repeat(20)}`;
const activity = {
  ...bodies.OwnerActivity.answer,
  activity: [
    { kind: 'claim' },
    { kind: 'mint', tokenIds: ['28'] },
    { kind: 'merge', level: 2, tokenIds: ['3', '4'] },
    { kind: 'transfer', from: owner, to: other },
    { kind: 'transfer', from: other, to: owner },
    { kind: 'checkpoint' },
  ].map((change, index) => ({ ...act, id: `${index}`, ...change })),
};
const { mining } = bodies.SettlementHistory.answer;
/** Checkpoints at hours of a day, newest first or not. */
const checkpointsAt = (...hours: number[]) =>
  hours.map((hour) => ({
    ...mining.recentCheckpoints[0],
    blockTimestamp: new Date(Date.UTC(2026, 10, 25, hour)).toISOString(),
  }));
const history = {
  ...bodies.SettlementHistory.answer,
  mining: {
    ...mining,
    rangeMintedBaseUnits: '1950000000000000000000',
    nextRound: {
      ...mining.nextRound,
      countedThroughRound: '170',
      amountBaseUnits: '2500000000000000000',
      completedBlockCount: '4',
    },
    recentCheckpoints: checkpointsAt(22, 16, 20, 18),
  },
};
/** Settlements whose part about mining is changed. */
const minedWith = (change: object) => ({
  settlements: { ...history, mining: { ...history.mining, ...change } },
});
const miner = {
  ...bodies.Miner.answer,
  owner,
  transfers: [{ ...act, id: 'this', kind: 'transfer', amountBaseUnits: null, from: other, to: owner }],
};
const genesisMs = Date.UTC(2026, 10, 24, 12);
const core = {
  ...bodies.CoreState.answer,
  configuration: { ...bodies.CoreState.answer.configuration, genesisTimestamp: String(genesisMs / 1000) },
};
const unavailable = (reason: string) => ({ status: 'unavailable', reason });
/** Settlement in trouble. */
const blocked = {
  ...bodies.Status.answer,
  measurement,
  builder: { status: 'unavailable', reason: 'round_projection_gap' },
  oracle: { ...bodies.Status.answer.oracle, state: 'blocked', reason: 'the gate is being serviced' },
  settlementQueue: {
    ...bodies.Status.answer.settlementQueue,
    state: 'stale',
    buffered: {
      firstRound: '173',
      lastRound: '182',
      roundCount: '10',
      activeRoundCount: '7',
      workUnits: '1234',
    },
    latestSubmission: { ...bodies.Status.answer.settlementQueue.latestSubmission, lifecycle: 'reverted' },
  },
};

const dayMs = 86_400_000;
const statistics = bodies.Statistics.answer;
const { days } = statistics.activity;
const lastMs = Date.parse(days.at(-1)?.date ?? '');
/** Days up to the last two of the example, each with another amount of work. */
const month = [
  ...Array.from({ length: 28 }, (_, index) => ({
    ...(days[5] as (typeof days)[number]),
    date: new Date(lastMs - (29 - index) * dayMs).toISOString().slice(0, 10),
    observedWorkUnits: `${index * 100}`,
  })),
  ...days.slice(-2),
];

/** A round in a morning, which is of the day before. */
const inTheMorning = {
  ...bodies.RoundRecord.answer.round,
  startAt: '2026-11-25T08:20:00.000Z',
  endAt: '2026-11-25T08:30:00.000Z',
  sqkMintedBaseUnits: '150000000000000000000',
};

/** The example of the body of each route. */
const byPath: readonly (readonly [RegExp, unknown])[] = [
  [/^\/v1\/status$/, { ...bodies.Status.answer, measurement }],
  [/^\/v1\/core$/, bodies.CoreState.answer],
  [/^\/v1\/mining\/state$/, bodies.MiningState.answer],
  [/^\/v1\/measurement\/stats\?range=7d/, statistics],
  [
    /^\/v1\/measurement\/stats\?/,
    { ...statistics, range: '30d', activity: { ...statistics.activity, days: month } },
  ],
  [/^\/v1\/days\//, { ...bodies.Day.answer, day: month[20] }],
  [/^\/v1\/rounds\//, { ...bodies.RoundRecord.answer, round: inTheMorning }],
  [/^\/v1\/transactions\//, bodies.Transaction.answer],
  [/^\/v1\/miners\/\d+$/, miner],
  [/^\/v1\/settlements\?/, history],
  [/^\/v1\/events\?/, bodies.EventFeed.answer],
  [/^\/v1\/owners\/[^/]*\/miners/, portfolio],
  [/^\/v1\/owners\/[^/]*\/activity/, activity],
  [/^\/v1\/miners\/\d+\/metadata$/, bodies.TokenMetadata.answer],
];
const findBody = (path: string) => byPath.find(([pattern]) => pattern.test(path))?.[1] ?? null;

const places: readonly Place[] = [
  { view: 'glance' },
  { view: 'statistics', range: '7d' },
  { view: 'settlements', range: '7d' },
  { view: 'owners', address: null },
  { view: 'owners', address: owner },
  { view: 'feed', category: 'players' },
  { view: 'about' },
  { view: 'status' },
  { view: 'miner', id: '1' },
  { view: 'round', id: inTheMorning.roundId },
  { view: 'transaction', id: `0x${'ab'.repeat(32)}` },
  { view: 'day', id: month[20]?.date ?? '' },
  { view: 'missing', reason: 'It is not here.', others: [{ view: 'round', id: '12' }], query: '12' },
];

const told = /^(?:href|title|datetime|data-label|aria-label|aria-current|value|content|property|rel|src)$/;
const block = /^(?:section|p|tr|h1|h2|nav|meta|link|title|header|footer|dl|script|svg)$/;

/** The text of a page and of its spoken attributes, a line for each block or figure. Tables are cut to their first and last rows. */
function listText(html: string): string[] {
  return html
    .replace(/data-(?:texts|times|event-types|title|icon|lost-title|lost-icon)="[^"]*"/g, '')
    .replace(/<dialog.*?<\/dialog>/gs, (about) => about.replace(/<(?:p|dl)\b/g, '<span'))
    .replace(/(?<=<tbody>)(?:(?!<\/tbody>).)*/gs, (rows) => {
      const all = rows.split(/(?=<tr)/);
      return [...all.slice(0, 3), ...all.slice(3).slice(-2)].join('');
    })
    .replace(/<(\/?)([a-z0-9]+)((?:\s+[^\s=>]+(?:="[^"]*")?)*)\s*\/?>/gi, (_, isEnd, tag, attributes) => {
      if (isEnd === '/') return ' ';
      const said = [...String(attributes).matchAll(/([^\s=]+)="([^"]*)"/g)]
        .filter(([, name = '']) => told.test(name.toLowerCase()) || (tag === 'text' && name === 'x'))
        .map(([, name, value]) => `${name}=${value}`)
        .filter((one) => one !== 'title=Source of this figure');
      const begin = block.test(tag) || String(attributes).includes('data-source') ? '\n' : ' ';
      return said.length === 0 ? begin : `${begin}[${said.join(' ')}] `;
    })
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
}

/** Further states: other bodies, or null, by the beginning of the path behind the version; and another time. */
const glance: Place = { view: 'glance' };
const ownerPage: Place = { view: 'owners', address: owner };
const minerPage: Place = { view: 'miner', id: '1' };
const states: readonly (readonly [string, Place, Readonly<Record<string, unknown>>, nowMs?: number])[] = [
  ['in trouble', glance, { status: blocked }],
  ['nothing known', glance, { '': null }],
  ['the first round', glance, { core }, genesisMs],
  ['the second round', glance, { core }, genesisMs + 601_000],
  ['before the first round', glance, { core }, genesisMs - 1],
  ['no chain', glance, { core: unavailable('indexer_disabled') }, genesisMs],
  ['a chain that cannot be read', glance, { core: unavailable('indexer_unavailable') }, genesisMs],
  ['no core', glance, { core: null }, genesisMs],
  ['nothing waits', ownerPage, minedWith({ nextRound: { ...mining.nextRound, amountBaseUnits: '0' } })],
  ['one mint', ownerPage, minedWith({ recentCheckpoints: checkpointsAt(21) })],
  ['a late mint', ownerPage, minedWith({ recentCheckpoints: checkpointsAt(10, 4, 8, 6) })],
  ['no rewards', ownerPage, minedWith({ status: 'unavailable', reason: 'not_configured' })],
  [
    'no weight',
    ownerPage,
    { [`owners/${owner}/miners`]: { ...portfolio, mining: { ...portfolio.mining, totalWeight: '0' } } },
  ],
  [
    'a miner in its cooldown',
    minerPage,
    {
      'miners/1$': {
        ...miner,
        position: {
          ...miner.position,
          mergeState: 'cooldown',
          blocksUntilMerge: '5',
          nextMergeBlock: '1200',
        },
      },
    },
  ],
  ['a miner without a record', minerPage, { 'miners/1$': null }],
];

it('every page says what is recorded (npm run examples)', async () => {
  const write = (place: Place, bodies: Readonly<Record<string, unknown>> = {}, atMs = nowMs) => {
    const changed = Object.entries(bodies);
    const read = (path: string) => {
      const found = changed.find(([name]) => new RegExp(`^/v1/${name}`).test(path));
      return found === undefined ? findBody(path) : found[1];
    };
    return renderPage({ place, nowMs: atMs, settings, chain, read: toReadBody(read), old: new Map() }).html;
  };
  const pages = [
    ...places.map((place) => [JSON.stringify(place).slice(0, 100), write(place)] as const),
    ...states.map(([name, ...state]) => [name, write(...state)] as const),
  ];
  // A line is shown with the first place that has it, and in a further state if no place has it.
  const shown = new Set<string>();
  const text = pages.map(([name, html], index) => {
    const lines = listText(html).filter((line) => !shown.has(line));
    if (index < places.length) for (const line of lines) shown.add(line);
    return [name, ...lines].join('\n  ');
  });
  await expect(`${text.join('\n')}\n`).toMatchFileSnapshot('pageText.txt');
});

it('a page is complete if everything could be read', () => {
  const render = (read: (path: string) => unknown) =>
    renderPage({
      place: { view: 'glance' },
      nowMs,
      settings,
      chain,
      read: toReadBody(read),
      old: new Map(),
    });
  const { isComplete, expiresAtMs } = render(findBody);
  expect([isComplete, expiresAtMs]).toEqual([true, (Math.floor(nowMs / 600_000) + 1) * 600_000]);
  expect(render((path) => (path.startsWith('/v1/events') ? null : findBody(path))).isComplete).toBe(false);
});
