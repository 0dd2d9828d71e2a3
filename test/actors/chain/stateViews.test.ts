import { List } from 'immutable';
import { describe, expect, it } from 'vitest';
import type { ChainState, KnownBlock } from '../../../actors/chain/state/chainState.ts';
import { listEarningsDates } from '../../../actors/chain/state/rewards.ts';
import type { ChainViews } from '../../../actors/views/chain/chainViews.ts';
import { buildPortfolioPage } from '../../../actors/views/chain/ownerPages.ts';
import {
  encodeOwnerCursor,
  type OwnerActivityView,
  type PortfolioView,
} from '../../../actors/views/chain/ownerViews.ts';
import {
  buildEconomyEvents,
  buildState,
  coreEvents,
  createEconomyViews,
  createStateViews,
  metadataEvent,
  mintMore,
  plainEconomy,
  plainMetadata,
  replaceArguments,
  type StateEvent,
  stateDeployment,
  stateOwner,
} from '../../support/chain/economyState.ts';
import { buildBlockHash } from '../../support/chain/hashes.ts';

const zeroAddress = `0x${'0'.repeat(40)}`;
const zeroHash = `0x${'0'.repeat(64)}` as const;
const other = `0x${'f'.repeat(40)}` as const;

/** The status of each view: `available`, or its reason. */
function readAvailability(views: ChainViews) {
  const page = { owner: stateOwner, limit: 25, cursor: null };
  const shown = {
    issuance: views.issuance(),
    checkedIssuance: views.checkedIssuance(),
    portfolio: views.portfolio(page),
    activity: views.ownerActivity(page, new AbortController().signal),
    metadata: views.metadata(1),
    feed: views.economy(),
    core: views.core(),
  };
  const words = Object.entries(shown).map(([name, view]) => {
    const { status, reason } = view as { status?: string; reason?: string };
    return [name, reason ?? status];
  });
  return Object.fromEntries(words);
}

const viewNames = ['issuance', 'checkedIssuance', 'portfolio', 'activity', 'metadata', 'feed'];
const expectForAll = (word: string, core = 'available') => ({
  ...Object.fromEntries(viewNames.map((name) => [name, word])),
  core,
});

function createViews(events: readonly StateEvent[], block: Partial<KnownBlock> = {}) {
  return createStateViews(buildState(events, block)).views;
}

describe('a safe state', () => {
  it.each(['core', 'token', 'collection'])('is a mismatch if its economy has another %s', (kind) => {
    const { views, source } = createStateViews(
      buildState(replaceArguments('mining', 'MiningConfigured', { [kind]: other })),
    );
    expect(readAvailability(views)).toEqual(expectForAll('indexer_mismatch'));
    expect(views.conditions()).toMatchObject({ core: 'available', economy: 'other_contracts' });
    expect(views.settlements('now')).toMatchObject({ status: 'available', issuance: 'not_configured' });
    // Reasons that concern all views come first.
    source.isCaughtUp = false;
    expect(views.conditions()).toMatchObject({ economy: 'projection_rebuilding' });
  });

  it.each([
    ['begin half an hour later', { genesisTimestamp: plainEconomy.genesisTimestamp + 1_800n }],
    ['last longer', { roundDuration: 1_200n }],
  ])('is a mismatch if the rounds of its core %s than those of the deployment', (_how, change) => {
    const { views, source } = createStateViews(buildState(buildEconomyEvents(change)));
    expect(readAvailability(views)).toEqual({
      ...expectForAll('indexer_mismatch'),
      core: 'indexer_mismatch',
    });
    expect(views.settlements('now')).toMatchObject({ reason: 'indexer_mismatch' });
    expect(views.safeState()).toBeNull();
    source.state = buildState(buildEconomyEvents());
    expect(views.safeState()).toBe(source.state);
  });

  it.each([
    ['address', { implementation: zeroAddress }],
    ['layout', { storageLayoutDigest: zeroHash }],
  ])('is a mismatch if its implementation has no %s', (_what, change) => {
    const views = createViews(replaceArguments('mining', 'VersionActivated', change));
    expect(readAvailability(views)).toEqual(expectForAll('indexer_mismatch'));
    expect(views.conditions()).toMatchObject({ economy: 'no_implementation' });
  });

  it('is unavailable if its block has no hash', () => {
    const views = createViews(buildEconomyEvents(), { hash: buildBlockHash(0) });
    expect(readAvailability(views)).toEqual(expectForAll('indexer_unavailable'));
    expect(views.conditions()).toMatchObject({ economy: 'no_safe_block_hash' });
  });

  it('below the deployment of the economy is not yet safe', () => {
    const { deploymentBlock, economyDeploymentBlock } = stateDeployment.chain;
    const views = createViews(buildEconomyEvents(), { number: economyDeploymentBlock - 1n });
    expect(readAvailability(views)).toEqual(expectForAll('not_yet_safe'));
    expect(readAvailability(createViews(buildEconomyEvents(), { number: economyDeploymentBlock }))).toEqual(
      expectForAll('available'),
    );
    expect(readAvailability(createViews(buildEconomyEvents(), { number: deploymentBlock - 1n })).core).toBe(
      'not_yet_safe',
    );
  });

  it('is not yet safe while nothing is configured at its block', () => {
    expect(readAvailability(createViews([]))).toEqual(expectForAll('not_yet_safe', 'not_yet_safe'));
    expect(readAvailability(createViews(coreEvents()))).toEqual(expectForAll('not_yet_safe'));
  });

  it('shows activity and metadata, and no amounts, before its token exists', () => {
    const views = createViews(buildEconomyEvents().filter(({ name }) => name !== 'TokenCreated'));
    expect(readAvailability(views)).toEqual({
      ...expectForAll('not_yet_safe'),
      ...{ activity: 'available', metadata: 'available' },
    });
  });

  it('begins no page before the economy, even with a made-up cursor', () => {
    const { views, source } = createEconomyViews();
    source.older = buildState(coreEvents(), { number: 50n, hash: buildBlockHash(5) });
    const read = (list: 'portfolio' | 'activity', state: ChainState | null) => {
      const { number: block, hash: blockHash } = (state as ChainState).block;
      const cursor = encodeOwnerCursor({ list, block, blockHash, owner: stateOwner, after: 1 });
      const page = { owner: stateOwner, limit: 25, cursor };
      return list === 'portfolio'
        ? views.portfolio(page)
        : views.ownerActivity(page, new AbortController().signal);
    };
    for (const list of ['portfolio', 'activity'] as const) {
      expect(read(list, source.state)).toMatchObject({ status: 'available' });
      expect(read(list, source.older)).toEqual({ fault: 'invalidated' });
    }
  });

  it('counts rounds from the genesis on', () => {
    const genesisMs = Number(plainEconomy.genesisTimestamp) * 1_000;
    const rounds = [-1_000, 0].map((afterMs) => {
      const state = buildState(buildEconomyEvents(), { timestampMs: genesisMs + afterMs });
      const page = { owner: stateOwner, limit: 1, cursor: null };
      return (createStateViews(state).views.portfolio(page) as PortfolioView).mining.currentRound;
    });
    expect(rounds).toEqual([0n, 1n]);
  });

  it.each(['portfolio', 'activity'] as const)('ends the %s of an owner with its last entry', (list) => {
    const { views } = createEconomyViews({}, ...mintMore(2n));
    const read = (limit: number, cursor: string | null) => {
      const page = { owner: stateOwner, limit, cursor };
      const view =
        list === 'portfolio'
          ? (views.portfolio(page) as PortfolioView)
          : (views.ownerActivity(page, new AbortController().signal) as OwnerActivityView);
      const { nextCursor } = view;
      return { entries: 'positions' in view ? view.positions : view.activity, nextCursor };
    };
    const { entries } = read(25, null);
    const before = entries.length - 1;
    const first = read(before, null);
    expect(first.entries).toEqual(entries.slice(0, before));
    const last = { entries: entries.slice(before), nextCursor: null };
    expect(last.entries).toHaveLength(1);
    expect(read(before, first.nextCursor)).toEqual(last);
    expect(read(before + 1, null).nextCursor).toBeNull();
  });

  it.each(['AdminChanged', 'OwnershipTransferred', 'RoleGranted'])(
    'hides only the core before %s',
    (missing) => {
      const views = createViews(buildEconomyEvents().filter(({ name }) => name !== missing));
      expect(views.core()).toMatchObject({ status: 'unavailable', reason: 'indexer_unavailable' });
      expect(views.issuance()).toMatchObject({ status: 'available' });
    },
  );

  it('shows an operation as ready once its delay has passed at the block', () => {
    const operationAfter = (timelockDelay: bigint) =>
      createViews(coreEvents({ ...plainEconomy, timelockDelay })).core();
    expect(operationAfter(1n)).toMatchObject({ operationState: 'ready' });
    expect(operationAfter(2n)).toMatchObject({ operationState: 'scheduled' });
  });

  it('is shown with at least twelve confirmations, and with a higher head at once', () => {
    const { views, source } = createEconomyViews();
    for (const [head, indexedThroughBlock] of [
      [null, 111n],
      [110n, 111n],
      [112n, 112n],
    ] as const) {
      source.head = head && { number: head, hash: buildBlockHash(1), timestampMs: 0 };
      expect(views.economy()).toMatchObject({ chain: { safeThroughBlock: 100n, indexedThroughBlock } });
    }
  });

  it.each([
    ['more was minted than is held', buildEconomyEvents({ minted: 251n }), 'supply_differs'],
    ['more is held than was minted', buildEconomyEvents({ supply: 251n }), 'supply_differs'],
    [
      'weights count of a round that is not minted',
      buildEconomyEvents({ processedRound: 4n, firstRound: 5n }),
      'minting_behind_weights',
    ],
  ])('is unavailable on the public routes when %s', (_what, events, condition) => {
    const views = createViews(events);
    const shown = expectForAll('available');
    expect(readAvailability(views)).toEqual({ ...shown, checkedIssuance: 'indexer_unavailable' });
    expect(views.conditions()).toEqual({
      core: 'available',
      economy: 'available',
      checkedIssuance: condition,
    });
  });

  it('is available on the public routes when weights count of the newest minted round', () => {
    const views = createViews(buildEconomyEvents({ processedRound: 5n, firstRound: 5n }));
    expect(views.conditions()).toMatchObject({ checkedIssuance: 'available' });
  });
});

it('the supply of the token rises with a mint, falls with a burn, and stays with a transfer', () => {
  const supplyAfter = (from: string, to: string) => {
    const transfer = { contract: 'token', name: 'Transfer', args: { from, to, value: 5n } } as const;
    return buildState([...buildEconomyEvents(), transfer]).token?.supplyBaseUnits;
  };
  expect(supplyAfter(zeroAddress, stateOwner)).toBe(255n);
  expect(supplyAfter(stateOwner, zeroAddress)).toBe(245n);
  expect(supplyAfter(stateOwner, other)).toBe(250n);
  expect(supplyAfter(zeroAddress, zeroAddress)).toBe(250n);
});

describe('the reasons of views that are not available', () => {
  const { economyDeploymentBlock: first } = stateDeployment.chain;
  it.each([
    ['before the deployment of the economy', first - 1n, coreEvents(), 'projection_failed'],
    ['at it, unconfigured', first, coreEvents(), 'indexer_mismatch'],
    ['after it, unconfigured', first + 1n, coreEvents(), 'indexer_mismatch'],
    ['at it, configured', first, buildEconomyEvents(), 'projection_failed'],
    ['before any state', first, null, 'projection_failed'],
  ])('tell a fault from another mining contract: %s', (_when, number, events, word) => {
    const { views, source } = createStateViews(events && buildState(events, { number }));
    const hadFault = readAvailability(views).core;
    source.fault = { block: { number, hash: buildBlockHash(5), timestampMs: 0 }, detail: 'wrong' };
    expect([hadFault, new Set(Object.values(views.conditions()))]).toEqual([
      events ? 'available' : 'not_yet_safe',
      new Set([word]),
    ]);
  });

  it('are those of CONTRACT.md for clients, and finer for operators', () => {
    const { views, source, clock } = createEconomyViews();
    const expectShown = (word: string, condition: string, settlements: string) => {
      expect(readAvailability(views)).toEqual(expectForAll(word, word));
      expect(new Set(Object.values(views.conditions()))).toEqual(new Set([condition]));
      const view = views.settlements('now');
      expect(view.status === 'available' ? view.source : view.reason).toBe(settlements);
    };
    source.isCaughtUp = false;
    expectShown('indexer_unavailable', 'projection_rebuilding', 'durable-cache');
    source.isCaughtUp = true;
    source.state = buildState(buildEconomyEvents({ codeVersion: 9n }));
    expectShown('indexer_unavailable', 'unsupported_contract_version', 'indexer_unavailable');
    source.state = buildState(buildEconomyEvents());
    expectShown('available', 'available', 'live');
    clock.advance(120_001);
    expectShown('indexer_unavailable', 'indexer_unavailable', 'durable-cache');
    source.isMismatched = true;
    expectShown('indexer_mismatch', 'indexer_mismatch', 'indexer_mismatch');
  });
});

const build = (change: object) => [metadataEvent(1n, { ...plainMetadata, ...change })];
const buildText = (json: string) => [
  metadataEvent(1n, `data:application/json;base64,${Buffer.from(json).toString('base64')}`),
];
const longest: [member: string, length: number, create: (text: string) => object][] = [
  ['name', 128, (name) => ({ name })],
  ['description', 2_048, (description) => ({ description })],
  ['attribute', 64, (trait_type) => ({ attributes: [{ trait_type, value: 'a' }] })],
  ['value', 128, (value) => ({ attributes: [{ trait_type: 'a', value }] })],
  ['image', 240_000, ({ length }) => ({ image: 'data:image/svg+xml;base64,'.padEnd(length, 'A') })],
  ['card', 2_048, ({ length }) => ({ card_image: 'https://'.padEnd(length, 'a') })],
];
const nextEpoch = { contract: 'collection', name: 'MetadataEpochAdvanced', args: { epoch: 2n } } as const;

it.each<[string, readonly StateEvent[], string]>([
  ['after the mint', [], 'available'],
  ...longest.flatMap(([member, length, create]): [string, StateEvent[], string][] => [
    [`with the longest ${member}`, build(create('a'.repeat(length))), 'available'],
    [`with a longer ${member}`, build(create('a'.repeat(length + 1))), 'unavailable'],
  ]),
  ['of an earlier epoch', [nextEpoch], 'unavailable'],
  ['with another kind of URI', [metadataEvent(1n, 'ipfs://Qm')], 'unavailable'],
  ['that is not JSON', buildText('{'), 'unavailable'],
  ['that is null', buildText('null'), 'unavailable'],
  ['with a numeric attribute', build({ attributes: [{ trait_type: 'Level', value: 1 }] }), 'unavailable'],
  [
    'with 33 attributes',
    build({ attributes: Array(33).fill({ trait_type: 'a', value: 'b' }) }),
    'unavailable',
  ],
  ['without a name', build({ name: '' }), 'unavailable'],
  ['with an image that is not SVG', build({ image: 'data:image/png;base64,AAAA' }), 'unavailable'],
  ['with text before its image', build({ image: ' data:image/svg+xml;base64,AAAA' }), 'unavailable'],
  ['with a card that is not a URL', build({ card_image: 'https:cards.example/1' }), 'unavailable'],
  ['with a card over plain HTTP', build({ card_image: 'http://cards.example/1' }), 'unavailable'],
])('metadata of a position %s, both routes say alike', (_what, published, status) => {
  const views = createViews([...buildEconomyEvents(), ...published]);
  expect(views.portfolio({ owner: stateOwner, limit: 25, cursor: null })).toMatchObject({
    positions: [{ metadataStatus: status }],
  });
  expect(views.metadata(1).status).toBe(status);
});

it('a page of positions begins after a token, and the one with the last is the last', () => {
  const state = buildState(buildEconomyEvents());
  const countFrom = (after: number) => {
    const { positions, hasMore } = buildPortfolioPage(state, { tokenIds: [1], limit: 1, after }, () => false);
    return [positions.length, hasMore];
  };
  expect([0, 1].map(countFrom)).toEqual([
    [1, false],
    [0, false],
  ]);
});

it('metadata shows replacement characters for text that is not Unicode', () => {
  const half = '\ud83d';
  const json = JSON.stringify({
    ...plainMetadata,
    name: `${half}name`,
    description: `\ude00${half}, and a whole one: 😀`,
    attributes: [{ trait_type: `Level${half}`, value: `${half} ` }],
    card_image: `https://cards.example/${half}`,
    [half]: half,
  });
  const bytes = Buffer.from(json.replace('name",', 'name\u0001",')).map((byte) => (byte === 1 ? 0xff : byte));
  const uri = `data:application/json;base64,${Buffer.from(bytes).toString('base64')}`;
  const view = createViews([...buildEconomyEvents(), metadataEvent(1n, uri)]).metadata(1);
  expect(view).toMatchObject({
    name: '\ufffdname\ufffd',
    description: '\ufffd\ufffd, and a whole one: 😀',
    attributes: [{ traitType: 'Level\ufffd', value: '\ufffd ' }],
    cardImageUrl: 'https://cards.example/\ufffd',
  });
});

describe('the last known state', () => {
  const shownNames = ['core', 'issuance', 'portfolio', 'activity', 'metadata', 'feed'];
  const readLastKnown = (views: ChainViews) => {
    const { checkedIssuance: _, ...shown } = readAvailability({ ...views, ...views.lastKnown });
    return shown;
  };

  it.each([
    ['is too old', {}],
    ['is folded again', { isCaughtUp: false }],
    ['has a next block that cannot be applied', { fault: { reason: 'a fault' } as never }],
  ] as const)('is shown with its date while it %s', (name, change) => {
    const reason = 'indexer_unavailable';
    const { views, source, clock } = createStateViews(
      buildState([...buildEconomyEvents(), metadataEvent(1n, plainMetadata)]),
    );
    expect(views.following()).toEqual({ target: 'anvil', reason: null, lastKnown: null });
    Object.assign(source, change);
    if (name === 'is too old') clock.advance(120_001);
    const { block } = source.state as ChainState;
    const lastKnown = { blockNumber: block.number, timestampMs: block.timestampMs };
    expect(views.following()).toEqual({ target: 'anvil', reason, lastKnown });
    expect(views.following()).toBe(views.following());
    expect(new Set(Object.values(readAvailability(views)))).toEqual(new Set([reason]));
    expect(readLastKnown(views)).toEqual(Object.fromEntries(shownNames.map((one) => [one, 'available'])));
  });

  it('is not shown if it belongs to other contracts', () => {
    const { views, source } = createEconomyViews();
    source.isMismatched = true;
    expect(new Set(Object.values(readLastKnown(views)))).toEqual(new Set(['indexer_mismatch']));
    expect(views.following().reason).toBe('indexer_mismatch');
  });
});

it.each([
  ['2026-01-30', Date.UTC(2026, 0, 31) - 1, 1n, 3n],
  ['2026-01-31', Date.UTC(2026, 0, 31), 3n, 5n],
  ['2026-02-02', Date.UTC(2026, 1, 2), 5n, 5n],
])('the newest date with earnings is %s at %i', (date, timestampMs, perWeightAtStart, perWeightAtEnd) => {
  const { block, mining, ...state } = buildState(buildEconomyEvents());
  const perWeightByDate = List([
    { date: '2026-01-29', atEnd: 1n },
    { date: '2026-01-30', atEnd: 3n },
    { date: '2026-01-31', atEnd: 5n },
  ]);
  const dates = listEarningsDates({
    ...state,
    block: { ...block, timestampMs },
    mining: { ...mining, perWeightByDate },
  });
  expect([dates.length, dates.at(-1)]).toEqual([7, { date, perWeightAtStart, perWeightAtEnd }]);
});
