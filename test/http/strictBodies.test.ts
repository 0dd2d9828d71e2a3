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
import { listViolations } from '../support/http/listViolations.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { escapePointer } from '../support/http/validateExamples.ts';
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
  /** Whether the compiled check accepts it. */
  readonly fits: (body: unknown) => boolean;
  readonly violations: ReturnType<ReturnType<typeof listViolations>>;
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
  const list = listViolations(document, (pointer, value) =>
    ajv.compile({ $ref: `openapi#${pointer}` })(value),
  );
  for (const [path, example] of examples) {
    const response = await server.get(example);
    expect([path, response.status]).toEqual([path, 200]);
    const body = (await response.json()) as Json;
    const pointer = `/paths/${escapePointer(path)}/get/responses/200/content/application~1json/schema`;
    const validate = ajv.compile({ $ref: `openapi#${pointer}` });
    const isPublished = (given: unknown) => validate(given) as boolean;
    found.set(path, {
      body,
      isPublished,
      fits: compileGuard(findSchema(path)),
      violations: list(pointer, body),
    });
  }
  return found;
}

function findSchema(path: string) {
  const schema = routes.find((route) => route.path === path)?.response;
  if (schema === undefined) throw new Error(`no route ${path}`);
  return schema;
}

/** Whether a body is refused by the schema, by its compiled check and by what is published. */
async function expectRefused(path: string, member: string, value: unknown, isRule = false) {
  const { body, isPublished, fits } = await examine(path);
  const changed = alterBody(body, member, value);
  const place = `${member}: ${String(JSON.stringify(value)).slice(0, 80)}`;
  const checks = [findSchema(path).safeParse(changed).success, fits(changed)];
  if (!isRule) checks.push(isPublished(changed));
  expect([place, ...checks]).toEqual([place, ...checks.map(() => false)]);
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

/** What a pattern or a format means at its edges: where, and values that are none. All other constraints are tried as they are published. */
const edges: Record<string, Record<string, readonly unknown[]>> = {
  '/v1/public/telemetry': {
    installationId: ['a b'],
    observedAt: ['2026-01-31', '2026-01-31T12:00:00+01:00', '2026-02-30T12:00:00Z'],
    'measurement.cumulativeWorkUnits': ['-1', '01', '1.5', tooLarge.padEnd(79, '0'), 1],
  },
  '/v1/public/modules': { 'modules.0.data': [{ secret: 1 }] },
  '/v1/public/installations/{installationId}/observations': {
    'items.0.cursor': ['a.b'],
    'items.0.sequence': [0.5, 2 ** 53],
  },
  '/v4/public/process': {
    'measurement.cumulativeWorkUnits': ['100000000000000000000'],
    'builder.anchor.workPerBlock': ['0'],
    'settlementQueue.latestSubmission.activeRoundCount': ['17', '-1', '016'],
  },
  '/v1/status': { 'signer.lastSignature': ['?', 'abc', 'abcd=', '=', 'a==='] },
  '/v2/public/stats': {
    'activity.days.0.date': ['2026-1-1', '2026-02-30'],
    'activity.days.0.buckets.0.startMinuteUtc': [15, -30, 1440],
  },
  '/v1/core': {
    'core.blockProgress': ['1000000000'],
    'source.blockTimestamp': ['1.5', '2026-01-31T12:00:00Z'],
    'identities.core': [`0x${'A'.repeat(40)}`, '0x1'],
  },
  '/v1/settlements': {
    'mining.economy.releaseId': ['ab', 'Release'],
    'mining.economy.symbol': ['sqk', 'X'.repeat(17), 'A B'],
    'recentSettlements.0.completedBlockCount': ['0'],
    buckets: [repeat(1, {})],
  },
  '/v1/mining/state': { 'release.protocolRevision': ['ab', 'x_1', 'x'.repeat(65)] },
  '/v1/owners/{address}/miners': { 'configuration.claimLimit': ['0', '33', '100', '01'] },
  '/v1/miners/{tokenId}/metadata': {
    tokenId: ['0', '10000', '01'],
    name: ['😀'.repeat(129)],
    imageDataUri: [
      'data:image/png;base64,AAAA',
      'data:image/svg+xml,<svg/>',
      `data:image/svg+xml;base64,${'A'.repeat(240_000)}`,
    ],
  },
  '/v2/public/miners/metadata/{tokenId}': {
    cardImageUrl: ['http://cards.example/1', 'https:/1', `https://cards.example/${'1'.repeat(2_048)}`],
  },
  '/v1/events': {
    activeEventTypes: [['player.miner_minted', 'player.miner_minted']],
    'events.0.payload.survivorTokenId': ['0'],
  },
};

/** Rules between members, which a JSON Schema cannot say: the published one describes them. */
const rules: typeof edges = {
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

const listCases = (table: typeof edges) =>
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
  const { body, isPublished, fits } = await examine(path);
  const longest = { name: '😀'.repeat(128), description: '😀'.repeat(2_048) };
  expect([fits, isPublished].map((accepts) => accepts({ ...body, ...longest }))).toEqual([true, true]);
});

describe('what the contract states', () => {
  it.each(listCases(edges))('of %s, %s is refused when it is another', async (path, member, values) => {
    for (const value of values) await expectRefused(path, member, value);
  });

  it.each(listCases(rules))(
    'between members of %s, %s is refused when it contradicts them',
    async (path, member, values) => {
      for (const value of values) await expectRefused(path, member, value, true);
    },
  );

  it.each(paths)('of %s is refused without any of it, and no other member is sent', async (path) => {
    const { body, isPublished, violations } = await examine(path);
    for (const [member, value] of violations) await expectRefused(path, member, value);
    expect(findSchema(path).safeParse({ ...body, other: 1 }).success).toBe(false);
    // Clients ignore what they do not know: it may be added within a version.
    expect(isPublished({ ...body, other: 1 })).toBe(true);
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
      const { body, isPublished, fits } = await examine(path);
      const schema = findSchema(path);
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
