import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGuard } from '../../actors/schemas/compileGuard.ts';
import type { ChainViews } from '../../actors/views/chain/chainViewTypes.ts';
import type { AnchorView, ProcessView } from '../../actors/views/views.ts';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { routes } from '../../http/routes/routes.ts';
import {
  buildEconomyEvents,
  buildState,
  createStateViews,
  metadataEvent,
  plainEconomy,
  plainMetadata,
  stateOwner,
} from '../support/chain/economyState.ts';
import { buildFeedEvent, replaceFeed, rewardsClaimed } from '../support/chain/feedOfEvents.ts';
import { examplePathOfOwner } from '../support/http/examplePath.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { runs } from '../support/propertyRuns.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

type Json = Record<string, unknown>;

const uuid = '5b0f6f0e-2d0f-4d1c-9a39-0d8a5f4f2c11';
const hash = `0x${'a'.repeat(64)}` as const;
const tooLarge = (2n ** 256n).toString();

/** Views of the chain with one event of each kind that differs in its bounds. */
function chainWithEvents(): ChainViews {
  const card = metadataEvent(1n, { ...plainMetadata, card_image: 'https://cards.example/1' });
  const minted = { ...plainEconomy, tokenId: 2n };
  const second = buildEconomyEvents(minted).filter(({ name }) => name === 'PositionMinted');
  const state = buildState([...buildEconomyEvents(), card, ...second]);
  const { views } = createStateViews(state);
  const merged = {
    type: 'player.miners_merged',
    owner: stateOwner,
    survivorTokenId: 1n,
    donorTokenId: 2n,
    level: 2,
    nextMergeBlock: 9n,
    effectiveRound: 3n,
  } as const;
  return replaceFeed(views, [buildFeedEvent(state, rewardsClaimed), buildFeedEvent(state, merged, 1)]);
}

/** A process snapshot with everything in it. */
function completeProcess(process: ProcessView): ProcessView {
  const atMs = process.generatedAtMs;
  const frontier: AnchorView = {
    settledThroughRound: 4n,
    cumulativeWork: 5_000n,
    cumulativeBlockUnits: 5_000_000_000n,
    workPerThousandBlocks: 1_000_000n,
    blockHeight: 5n,
    blockProgress: 0n,
    confirmedAtMs: atMs,
    transactionHash: hash,
  };
  const completed = { firstCompletedBlock: 5n, lastCompletedBlock: 5n, completedBlockCount: 1n };
  const projected = { ...frontier, ...completed };
  return {
    ...process,
    builder: {
      status: 'available',
      anchor: frontier,
      queued: { closedRoundCount: 1n, closedWorkUnits: 1n, openRoundWorkUnits: 0n },
      projected,
    },
    oracle: {
      state: 'blocked',
      reason: 'maintenance',
      latestAcceptedAtMs: atMs,
      latestClosure: { firstRound: 1n, lastRound: 4n, acceptedAtMs: atMs },
    },
    settlementQueue: {
      status: 'available',
      state: 'preparing',
      settlementEnabled: true,
      reporterEnvironmentEnabled: true,
      buffered: { firstRound: 5n, lastRound: 5n, roundCount: 1n, activeRoundCount: 1n, workUnits: 1n },
      projected,
      incidentOpen: false,
      blockedReason: null,
      lastRun: { startedAtMs: atMs, finishedAtMs: atMs, result: 'settled' },
      latestSubmission: {
        submissionId: uuid,
        lifecycle: 'preparing',
        previousSettledThroughRound: 4n,
        settledThroughRound: 5n,
        roundCount: 1n,
        activeRoundCount: 1,
        expected: { ...frontier, ...completed },
        transactionHash: null,
        createdAtMs: atMs,
        submittedAtMs: null,
        confirmedAtMs: null,
        terminalAtMs: null,
        changedAtMs: atMs,
        outcomeCode: 'reverted',
      },
    },
  };
}

/** What is asked of some routes, so that their answers have every member. */
const queries: Record<string, string> = {
  '/v4/public/settlements': '?queue=1&range=24h',
  '/v2/public/miners/metadata/{tokenId}': '?release=release-1',
};
const examples = new Map(
  routes.map((route) => [route.path, examplePathOfOwner(route, stateOwner) + (queries[route.path] ?? '')]),
);
const paths = [...examples.keys()];

interface Examined {
  readonly body: Json;
  /** Whether the JSON Schema of the OpenAPI document accepts a body. */
  readonly isPublished: (body: unknown) => boolean;
}
let examined: Promise<ReadonlyMap<string, Examined>> | null = null;

/** The bodies of all routes, asked once. */
async function examine(path: string): Promise<Examined> {
  examined ??= examineAll();
  return (await examined).get(path) as Examined;
}

async function examineAll(): Promise<ReadonlyMap<string, Examined>> {
  const found = new Map<string, Examined>();
  const server = await startPublicServer({
    chain: chainWithEvents(),
    observations: { page: () => ({ items: [acceptedReading({ position: 1 })], more: true }) },
  });
  server.views.process = completeProcess(server.views.process);
  const document = JSON.parse(JSON.stringify(createOpenApiDocument('1.0.0')));
  const ajv = new Ajv2020({ strict: false });
  for (const format of ['uint64-decimal', 'uint256-decimal']) ajv.addFormat(format, true);
  addFormats.default(ajv, ['date', 'date-time', 'uuid']);
  ajv.addSchema(document, 'openapi');
  for (const [path, example] of examples) {
    const response = await server.get(example);
    expect([path, response.status]).toEqual([path, 200]);
    const body = (await response.json()) as Json;
    const pointer = path.replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D');
    const validate = ajv.compile({
      $ref: `openapi#/paths/${pointer}/get/responses/200/content/application~1json/schema`,
    });
    found.set(path, { body, isPublished: (given) => validate(given) as boolean });
  }
  return found;
}

function findSchema(path: string) {
  const schema = routes.find((route) => route.path === path)?.response;
  if (schema === undefined) throw new Error(`no route ${path}`);
  return schema;
}

/** A copy with the member at a path replaced, or removed where the value is undefined. */
function alterBody(body: Json, at: string, value: unknown): Json {
  const copy = structuredClone(body);
  const keys = at.split('.');
  const last = keys.pop() as string;
  const parent = keys.reduce((node, key) => node[key] as Json, copy);
  if (!(last in parent)) throw new Error(`nothing is at ${at}`);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

const repeat = (count: number, value: unknown) => Array.from({ length: count }, () => value);

/** What the contract states: where, and values that are none. */
const stated: Record<string, Record<string, readonly unknown[]>> = {
  '/v1/public/telemetry': {
    schemaVersion: [2, '1'],
    installationId: ['', 'a b', 'x'.repeat(129)],
    revision: ['', 5],
    status: ['unreachable'],
    observedAt: ['2026-01-31', '2026-01-31T12:00:00+01:00', '2026-02-30T12:00:00Z'],
    'measurement.counterEpoch': ['epoch'],
    'measurement.cumulativeWorkUnits': ['-1', '01', '1.5', tooLarge.padEnd(79, '0'), 1],
    'measurement.provenance': ['guessed'],
    'measurement.coreStatus': ['idle'],
  },
  '/v1/public/modules': {
    'modules.0.instanceId': [''],
    'modules.0.moduleType': [''],
    'modules.0.driverId': [''],
    'modules.0.moduleVersion': [''],
    'modules.0.schemaVersion': [0, 1.5],
    'modules.0.state': ['idle'],
    'modules.0.data': [{ secret: 1 }],
    'modules.0.health': [{}],
  },
  '/v1/public/installations/{installationId}/observations': {
    'items.0.cursor': ['', 'a.b', 'x'.repeat(513)],
    'items.0.sequence': [-1, 0.5, 2 ** 53],
    'items.0.telemetryId': ['1'],
    nextCursor: ['', 'a b'],
    items: [repeat(101, {})],
  },
  '/v4/public/process': {
    revision: [''],
    'measurement.staleAfterSeconds': [119],
    'measurement.freshness': ['offline'],
    'measurement.cumulativeWorkUnits': ['100000000000000000000'],
    'measurement.rpmMilli': [-1, 0.5],
    'builder.anchor.workPerBlock': ['0'],
    'builder.projected.workPerBlock': ['0'],
    'builder.projected.lifecycle': ['settled'],
    'oracle.reason': [''],
    'oracle.state': ['open'],
    'settlementQueue.state': ['waiting'],
    'settlementQueue.blockedReason': ['because'],
    'settlementQueue.lastRun.result': [''],
    'settlementQueue.latestSubmission.activeRoundCount': ['17', '-1', '016'],
    'settlementQueue.latestSubmission.outcomeCode': ['', 'confirmed'],
    'settlementQueue.latestSubmission.lifecycle': ['sent'],
    'settlementQueue.latestSubmission.expected.workPerBlock': ['0'],
    'settlementQueue.latestSubmission.submissionId': ['1'],
  },
  '/v1/status': {
    revision: [''],
    'signer.kind': [''],
    'signer.algorithm': [''],
    'signer.keySlot': [''],
    'signer.lastSignature': ['', '?', 'abc', 'abcd=', '=', 'a==='],
    'modules.0.driverId': [''],
  },
  '/v2/public/stats': {
    revision: [''],
    range: ['24h'],
    timezone: ['CET'],
    'window.dayCount': [8, 30],
    'window.bucketSeconds': [600],
    'activity.days': [[], repeat(8, null)],
    'activity.days.0.buckets': [[]],
    'activity.days.0.date': ['2026-1-1', '2026-02-30'],
    'activity.days.0.buckets.0.startMinuteUtc': [15, -30, 1440],
    'activity.days.0.buckets.0.observedRoundCount': [4, -1],
    'activity.days.0.coverage.coverageBps': [10_001, -1],
    'activity.typicalDay': [[]],
    'lifetime.coverageBps': [10_001],
    'rounds.missingCount': [-1],
    'blocks.reason': ['other'],
  },
  '/v1/core': {
    'chain.target': ['goerli'],
    'chain.confirmations': ['11', 12],
    'core.blockProgress': ['1000000000'],
    'governance.operationKind': [''],
    'governance.operationState': [''],
    'governance.operationId': ['0x1'],
    'source.eventName': [''],
    'source.blockTimestamp': ['1.5', '2026-01-31T12:00:00Z'],
    'events.0.id': ['', 'x'.repeat(513)],
    'events.0.eventName': [''],
    'events.0.arguments.0.name': [''],
    events: [repeat(26, {})],
    'identities.core': [`0x${'A'.repeat(40)}`, '0x1'],
  },
  '/v1/settlements': {
    range: ['1h'],
    'mining.economy.releaseId': ['', 'ab', 'Release'],
    'mining.economy.symbol': ['', 'sqk', 'X'.repeat(17), 'A B'],
    'mining.economy.decimals': [256, -1],
    'mining.nextRound.state': ['closed'],
    'recentSettlements.0.completedBlockCount': ['0'],
    'recentSettlements.0.firstCompletedBlock': ['0'],
    'recentSettlements.0.confirmationStatus': ['pending'],
    recentSettlements: [repeat(11, {})],
    'mining.recentCheckpoints': [repeat(13, {})],
    recentRounds: [repeat(43, {})],
    buckets: [repeat(1, {})],
  },
  '/v4/public/settlements': {
    schemaVersion: [1],
    'window.bucketSeconds': [0, 1_800],
    'settlementQueue.projected.workPerBlock': ['0'],
  },
  '/v1/mining/state': {
    'asset.symbol': ['', 'sqk', 'X'.repeat(17)],
    'asset.decimals': [256],
    'collection.phase': ['open'],
    'release.id': ['ab', 'A-1', 'x'.repeat(129)],
    'release.protocolRevision': ['ab', 'x_1', 'x'.repeat(65)],
    'issuance.unmintedCapacityBaseUnits': ['-1'],
    'chain.safeBlockHash': ['0x1'],
  },
  '/v2/public/miners/state': {
    'issuance.mintedThroughRound': ['-1'],
    'collection.allowlistStart': [undefined],
  },
  '/v1/owners/{address}/miners': {
    'configuration.roundDuration': ['0'],
    'configuration.claimLimit': ['0', '33', '100', '01'],
    'configuration.maximumLevel': [0],
    'configuration.tokenSymbol': ['', 'sqk'],
    'configuration.tokenDecimals': [256],
    'configuration.levels': [[]],
    'positions.0.tokenId': ['0'],
    'positions.0.level': [0],
    'positions.0.mergeState': ['waiting'],
    'positions.0.metadataStatus': ['unknown'],
    'positions.0.pendingActivationSource': ['burn'],
    positions: [repeat(101, {})],
    earnings: [[]],
    nextCursor: ['', undefined],
  },
  '/v2/public/miners/portfolio': { 'configuration.claimLimit': ['33'], release: [undefined, null] },
  '/v1/owners/{address}/activity': {
    'activity.0.id': ['', 'x'.repeat(513)],
    'activity.0.kind': ['burn'],
    'activity.0.tokenIds': [repeat(33, '1')],
    'activity.0.level': [0],
    'activity.0.source.confirmationStatus': ['pending'],
    activity: [repeat(101, {})],
    total: [null, '-1'],
  },
  '/v2/public/miners/activity': { schemaVersion: [1] },
  '/v1/miners/{tokenId}/metadata': {
    tokenId: ['0', '10000', '01'],
    name: ['', 'n'.repeat(129), '😀'.repeat(129)],
    description: ['', 'd'.repeat(2_049), '😀'.repeat(2_049)],
    attributes: [repeat(33, { traitType: 'a', value: 'b' })],
    'attributes.0.traitType': ['', 't'.repeat(65)],
    'attributes.0.value': ['', 'v'.repeat(129), 1],
    imageDataUri: [
      '',
      'data:image/png;base64,AAAA',
      'data:image/svg+xml,<svg/>',
      `data:image/svg+xml;base64,${'A'.repeat(240_000)}`,
      null,
    ],
  },
  '/v2/public/miners/metadata/{tokenId}': {
    cardImageUrl: [
      '',
      'http://cards.example/1',
      'https:/1',
      `https://cards.example/${'1'.repeat(2_048)}`,
      null,
    ],
  },
  '/v1/events': {
    catalogVersion: ['public-activity-v1'],
    category: ['core'],
    activeEventTypes: [[], ['player.miner_minted', 'player.miner_minted'], ['other']],
    events: [repeat(101, {})],
    'events.0.id': ['', 'x'.repeat(513)],
    'events.0.eventVersion': [1],
    'events.0.payload.level': [1, 11],
    'events.0.payload.survivorTokenId': ['0'],
    'events.1.payload.tokenIds': [[], repeat(33, '1')],
    'events.1.payload.asset.symbol': ['', 'sqk'],
    'events.0.source.releaseId': ['ab'],
    'events.0.source.confirmationStatus': ['pending'],
  },
};

/** Rules between members, which a JSON Schema cannot say: the published one describes them. */
const rules: typeof stated = {
  '/v2/public/stats': { 'window.dayCount': [30] },
  '/v1/core': { 'chain.safeThroughBlock': ['101'] },
  '/v1/mining/state': { 'chain.indexedThroughBlock': ['110'] },
  '/v1/owners/{address}/miners': {
    'configuration.maximumLevel': [1, 3],
    'configuration.levels.0.level': [2],
    'positions.0.tokenId': ['2', '3'],
    'positions.0.pendingRound': ['7'],
  },
  '/v1/owners/{address}/activity': {
    'activity.0.source.blockNumber': ['101', '99'],
    'activity.0.source.logIndex': [0],
    'chain.safeThroughBlock': ['99'],
  },
};

const listCases = (table: typeof stated) =>
  Object.entries(table).flatMap(([path, members]) =>
    Object.entries(members).map(([member, values]) => [path, member, values] as const),
  );

describe('every body of an available view', () => {
  it.each(paths)('%s fits its schema, as it is checked and as it is published', async (path) => {
    const { body, isPublished } = await examine(path);
    if ('status' in body && !path.endsWith('/telemetry')) expect(body.status).toBe('available');
    expect(findSchema(path).safeParse(body).error).toBeUndefined();
    expect(isPublished(body)).toBe(true);
  });
});

it('a text may have as many characters as the contract says, however many bytes each takes', async () => {
  const path = '/v1/miners/{tokenId}/metadata';
  const { body, isPublished } = await examine(path);
  const schema = findSchema(path);
  const longest = { name: '😀'.repeat(128), description: '😀'.repeat(2_048) };
  expect([compileGuard(schema), isPublished].map((fits) => fits({ ...body, ...longest }))).toEqual([
    true,
    true,
  ]);
});

describe('what the contract states', () => {
  it.each(listCases(stated))('of %s, %s is refused when it is another', async (path, member, values) => {
    const { body: base, isPublished } = await examine(path);
    for (const value of values) {
      const body = alterBody(base, member, value);
      const isRule = (rules[path]?.[member] ?? []).includes(value);
      const shortBody = String(JSON.stringify(value)).slice(0, 80);
      expect([shortBody, findSchema(path).safeParse(body).success]).toEqual([shortBody, false]);
      expect([shortBody, compileGuard(findSchema(path))(body)]).toEqual([shortBody, false]);
      if (!isRule) expect([shortBody, isPublished(body)]).toEqual([shortBody, false]);
    }
  });

  it.each(listCases(rules))(
    'between members of %s, %s is refused when it contradicts them',
    async (path, member, values) => {
      const { body: base } = await examine(path);
      for (const value of values) {
        const body = alterBody(base, member, value);
        expect([value, findSchema(path).safeParse(body).success]).toEqual([value, false]);
        expect([value, compileGuard(findSchema(path))(body)]).toEqual([value, false]);
      }
    },
  );

  it.each(paths)('of %s, every member is, and no other is sent', async (path) => {
    const { body, isPublished } = await examine(path);
    expect(findSchema(path).safeParse({ ...body, other: 1 }).success).toBe(false);
    // Clients ignore what they do not know: it may be added within a version.
    expect(isPublished({ ...body, other: 1 })).toBe(true);
    const optional = new Set(['livePositionCount', 'total', 'imageDataUri', 'cardImageUrl']);
    const ofSome: [string, readonly string[]][] = [
      ['settlements', ['recentRounds', 'previousPeriod', 'settlementQueue']],
      ['state', ['collection']],
    ];
    for (const [end, members] of ofSome)
      if (path.endsWith(end)) for (const member of members) optional.add(member);
    for (const member of Object.keys(body)) {
      const isOptional = optional.has(member);
      const without = alterBody(body, member, undefined);
      expect([member, findSchema(path).safeParse(without).success]).toEqual([member, isOptional]);
      expect([member, isPublished(without)]).toEqual([member, isOptional]);
    }
  });
});

describe('a body that is unavailable', () => {
  const chainPaths = paths.filter((path) => /core|settlements|miners|mining|owners|events/.test(path));

  it.each(chainPaths)('of %s has one of the reasons that routes emit', async (path) => {
    const server = await startPublicServer();
    const body = (await (
      await server.get(examples.get(path)?.replace('?release=release-1', '') ?? path)
    ).json()) as Json;
    const { isPublished } = await examine(path);
    expect(body).toMatchObject({ status: 'unavailable', reason: 'indexer_disabled' });
    const words = ['indexer_disabled', 'not_yet_safe', 'indexer_unavailable', 'indexer_mismatch'];
    // The contract lists them for one route.
    const ofMining = ['projection_rebuilding', 'unsupported_contract_version'];
    for (const reason of [...words, ...ofMining, 'other_contracts', '']) {
      const expected = words.includes(reason) || (path === '/v1/mining/state' && ofMining.includes(reason));
      expect([reason, findSchema(path).safeParse({ ...body, reason }).success]).toEqual([reason, expected]);
      expect([reason, isPublished({ ...body, reason })]).toEqual([reason, expected]);
    }
    const isFeed = path.endsWith('/events');
    expect(findSchema(path).safeParse({ ...body, reason: 'source_disabled' }).success).toBe(isFeed);
    // No data next to the reason: unknown is never zero.
    expect(findSchema(path).safeParse({ ...body, generatedAt: '2026-01-31T12:00:00Z' }).success).toBe(false);
  });
});

describe('the compiled check of bodies', () => {
  const values: readonly unknown[] = [
    null,
    undefined,
    true,
    0,
    -1,
    1.5,
    2 ** 53,
    256,
    '',
    '0',
    '1',
    '01',
    '-1',
    '17',
    'x',
    'available',
    'unavailable',
    'pending',
    '😀',
    '😀'.repeat(65),
    '😀'.repeat(129),
    tooLarge,
    hash,
    stateOwner,
    uuid,
    '2026-01-31T12:00:00.000Z',
    '2026-02-30T12:00:00.000Z',
    '2026-01-31',
    [],
    {},
    [1],
    ['1', '1'],
  ];

  function listPaths(node: unknown, at = ''): string[] {
    if (typeof node !== 'object' || node === null) return [];
    return Object.entries(node).flatMap(([key, value]) => [
      `${at}${key}`,
      ...listPaths(value, `${at}${key}.`),
    ]);
  }

  it.each(paths)(
    'of %s says what zod says, and what it accepts the published schema accepts',
    async (path) => {
      const { body, isPublished } = await examine(path);
      const schema = findSchema(path);
      const fits = compileGuard(schema);
      const change = fc.record({
        at: fc.constantFrom(...listPaths(body)),
        value: fc.constantFrom(...values),
      });
      fc.assert(
        fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) => {
          let changed = body;
          for (const { at, value } of changes) {
            try {
              changed = alterBody(changed, at, value);
            } catch {
              return; // The first change has removed what the second is about.
            }
          }
          const isAccepted = schema.safeParse(changed).success;
          expect(fits(changed)).toBe(isAccepted);
          if (isAccepted) expect(isPublished(changed)).toBe(true);
        }),
        { numRuns: runs(200) },
      );
    },
  );
});

describe('what is documented for the table', () => {
  it('is what is answered', async () => {
    const server = await startPublicServer();
    const document = JSON.parse(JSON.stringify(createOpenApiDocument('1.0.0'))) as {
      paths: Record<
        string,
        { get: { responses: Record<string, { content: Record<string, { schema: Json }> }> } }
      >;
    };
    const ajv = new Ajv2020({ strict: false });
    for (const [path, ready, status] of [
      ['/healthz', true, '200'],
      ['/readyz', true, '200'],
      ['/readyz', false, '503'],
    ] as const) {
      server.ready = ready;
      const response = await server.get(path);
      expect([path, String(response.status)]).toEqual([path, status]);
      const schema = document.paths[path]?.get.responses[status]?.content['application/json']?.schema;
      expect(ajv.compile(schema as Json)(await response.json())).toBe(true);
    }
    const stream = await server.get('/v1/events/stream');
    expect(Object.keys(document.paths['/v1/events/stream']?.get.responses['200']?.content ?? {})).toEqual([
      stream.headers.get('content-type')?.split(';')[0],
    ]);
    await stream.body?.cancel();
  });
});
