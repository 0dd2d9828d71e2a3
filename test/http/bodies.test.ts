import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGuard } from '../../actors/schemas/compileSchema.ts';
import { examples } from '../../http/routes/documentation/examples.ts';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { nameBody, type Route } from '../../http/routes/route.ts';
import { routes } from '../../http/routes/routes.ts';
import {
  buildEconomyEvents,
  buildState,
  createEconomyViews,
  type EconomyValues,
  plainEconomy,
  stateOwner,
} from '../support/chain/economyState.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { createSchemaValidator, escapePointer } from '../support/http/validateExamples.ts';
import { runs } from '../support/propertyRuns.ts';

type Json = Record<string, unknown>;

const document = JSON.parse(JSON.stringify(createOpenApiDocument()));
const ajv = createSchemaValidator(document);

const schemaOf = (route: Route): Json => document.components.schemas[nameBody(route)];

/** The documented body of a route, which a service has sent, with its checks. */
const examined = new Map(
  routes.map((route) => {
    const { answer, unavailable } = examples.bodies[nameBody(route)] ?? {};
    const pointer = `/paths/${escapePointer(route.path)}/get/responses/200/content/application~1json/schema`;
    const validate = ajv.compile({ $ref: `openapi#${pointer}` });
    return [
      route.path,
      {
        body: answer as Json,
        unavailable: unavailable as Json | undefined,
        /** Whether it is one of several bodies, so an available or an unavailable one. */
        isUnion: 'anyOf' in schemaOf(route) || 'oneOf' in schemaOf(route),
        isValid: (given: unknown) => route.response.safeParse(given).success,
        /** Whether the JSON Schema of the OpenAPI document accepts a body. */
        isPublished: (given: unknown) => validate(given) as boolean,
        /** Whether the compiled check accepts it. */
        fits: compileGuard(route.response),
      },
    ] as const;
  }),
);
const paths = [...examined.keys()];
const findExamined = (path: string) => {
  const found = examined.get(path);
  if (found === undefined) throw new Error(`no route ${path}`);
  return found;
};

const find = (node: unknown, keys: readonly string[]) =>
  keys.reduce((inner, key) => (inner as Json)[key], node);

/** A copy with the member at a path replaced, or removed where the value is undefined. */
function alterBody(body: Json, at: string, value: unknown): Json {
  const copy = structuredClone(body);
  const keys = at.split('.');
  const last = keys.pop() as string;
  const parent = find(copy, keys) as Json;
  if (!(last in parent)) throw new Error(`nothing is at ${at}`);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

/** Rules between members, which a JSON Schema cannot say: the published one describes them. Each value contradicts another member. */
const rules: readonly (readonly [path: string, member: string, contradict: (body: Json) => unknown])[] = [
  ['/v2/public/stats', 'window.dayCount', () => 30],
  ['/v1/core', 'chain.safeThroughBlock', move('chain.safeThroughBlock', 1n)],
  ['/v1/mining/state', 'chain.indexedThroughBlock', move('chain.indexedThroughBlock', -1n)],
  ['/v1/owners/{address}/miners', 'configuration.maximumLevel', () => 9],
  ['/v1/owners/{address}/miners', 'configuration.levels.0.level', () => 2],
  ['/v1/owners/{address}/miners', 'positions.0.tokenId', (body) => find(body, ['positions', '1', 'tokenId'])],
  ['/v1/owners/{address}/miners', 'positions.1.pendingRound', () => '7'],
  ['/v1/owners/{address}/activity', 'activity.0.source.blockNumber', move('chain.safeThroughBlock', 1n)],
  ['/v1/owners/{address}/activity', 'activity.1.id', (body) => find(body, ['activity', '0', 'id'])],
  ['/v1/owners/{address}/activity', 'activity.1.source', (body) => find(body, ['activity', '0', 'source'])],
];

/** The block of a member, moved. */
function move(member: string, by: bigint) {
  return (body: Json) => String(BigInt(find(body, member.split('.')) as string) + by);
}

it.each(rules)('a body of %s is refused if %s contradicts another member', (path, member, contradict) => {
  const { body, isValid, fits } = findExamined(path);
  const changed = alterBody(body, member, contradict(body));
  expect([isValid(body), fits(body), isValid(changed), fits(changed)]).toEqual([true, true, false, false]);
});

it.each(paths)('a body of %s has an example, no other member, and a reason that routes emit', (path) => {
  const { body, unavailable, isUnion, isValid, isPublished } = findExamined(path);
  expect([isValid(body), body.status === 'unavailable', unavailable !== undefined]).toEqual([
    ...[true, false, isUnion],
  ]);
  expect([isValid, isPublished].map((accepts) => accepts({ ...body, other: 1 }))).toEqual([false, true]);
  if (unavailable === undefined) return;
  const words = ['indexer_disabled', 'not_yet_safe', 'indexer_unavailable', 'indexer_mismatch'];
  // The contract lists them for one route.
  const ofMining = ['projection_rebuilding', 'unsupported_contract_version'];
  for (const reason of [...words, ...ofMining, 'other_contracts', '']) {
    const expected = words.includes(reason) || (path === '/v1/mining/state' && ofMining.includes(reason));
    const changed = { ...unavailable, reason };
    expect([reason, isValid(changed), isPublished(changed)]).toEqual([reason, expected, expected]);
  }
  expect(isValid({ ...unavailable, reason: 'source_disabled' })).toBe(path.endsWith('/events'));
  // No data next to the reason: unknown is never zero.
  expect(isValid({ ...unavailable, generatedAt: '2026-01-31T12:00:00Z' })).toBe(false);
});

it('a text may be as long as the contract says, in characters', () => {
  const { body, isPublished, fits } = findExamined('/v1/miners/{tokenId}/metadata');
  const accept = (name: number, description: number) =>
    [fits, isPublished].map((accepts) =>
      accepts({ ...body, name: '😀'.repeat(name), description: '😀'.repeat(description) }),
    );
  expect([accept(128, 2_048), accept(129, 1), accept(1, 2_049)]).toEqual([
    [true, true],
    [false, false],
    [false, false],
  ]);
});

const values: readonly unknown[] = [
  ...[null, undefined, true, 0, -1, 1.5, 2 ** 53, 256, [], {}, [1], ['1', '1']],
  ...['', '0', '1', '01', '-1', '17', 'x', 'available', 'unavailable', 'pending'],
  ...[
    '😀',
    '😀'.repeat(65),
    '😀'.repeat(129),
    (2n ** 256n).toString(),
    `0x${'a'.repeat(64)}`,
    `0x${'a'.repeat(40)}`,
  ],
  ...[
    '5b0f6f0e-2d0f-4d1c-9a39-0d8a5f4f2c11',
    '2026-01-31T12:00:00.000Z',
    '2026-02-30T12:00:00.000Z',
    '2026-01-31',
  ],
];

function listPaths(node: unknown, at = ''): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => [`${at}${key}`, ...listPaths(value, `${at}${key}.`)]);
}

it.each(paths)('the compiled check says of %s what zod and the published schema say', (path) => {
  const { body, isValid, isPublished, fits } = findExamined(path);
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
      const isAccepted = isValid(changed);
      expect(fits(changed)).toBe(isAccepted);
      if (isAccepted) expect(isPublished(changed)).toBe(true);
    }),
    { numRuns: runs(100) },
  );
});

const uint64Max = 2n ** 64n - 1n;
const uint256Max = 2n ** 256n - 1n;
const endOfYear9999 = 253_402_300_799n;

const edges = [0n, 1n, 2n ** 31n, 2n ** 53n - 1n, 2n ** 53n + 1n, endOfYear9999, endOfYear9999 + 1n];
const upTo = (max: bigint, min = 0n) =>
  fc.oneof(
    fc.constantFrom(...[...edges, max - 1n, max].filter((edge) => edge >= min)),
    fc.bigInt({ min, max }),
    fc.bigInt({ min, max: 1_000_000n }),
  );
const ofUint256 =
  /^(?:maxWorkPerRound|workPerThousandBlocks|timelockDelay|work|blockUnits|rewardPerBlock|supplyCap|weight|minted|supply|accumulatedPerWeight|publicPrice)$/;
const maxOf = (name: string) => (ofUint256.test(name) ? uint256Max : uint64Max);

/** Any values that fit the types of the events, including values that only the contracts exclude. */
const anything = fc.record({
  ...Object.fromEntries(Object.keys(plainEconomy).map((name) => [name, upTo(maxOf(name))])),
  previousRound: fc.constant(0n),
  settledRound: upTo(uint64Max, 1n),
  tokenId: fc.bigInt({ min: 1n, max: 9_999n }),
  decimals: fc.integer({ min: 0, max: 255 }),
  level: fc.constant(1),
  codeVersion: fc.constantFrom(1n, 2n),
  symbol: fc.oneof(fc.constant('SQK'), fc.string()),
}) as fc.Arbitrary<EconomyValues>;

const listExamples = (tokenId: bigint) => [
  '/v1/core',
  '/v1/settlements',
  '/v1/settlements?range=30d',
  '/v4/public/settlements?queue=1',
  '/v1/mining/state',
  '/v2/public/miners/state',
  `/v1/owners/${stateOwner}/miners`,
  `/v2/public/miners/portfolio?owner=${stateOwner}`,
  `/v1/owners/${stateOwner}/activity`,
  `/v2/public/miners/activity?owner=${stateOwner}`,
  `/v1/miners/${tokenId}/metadata`,
  `/v2/public/miners/metadata/${tokenId}`,
  '/v1/events',
];

async function startServer() {
  const { views, source } = createEconomyViews();
  const server = await startPublicServer({ chain: views });
  /** The bodies of all routes of the chain, which the server has checked. */
  const ask = async (values: Partial<EconomyValues>) => {
    source.state = buildState(buildEconomyEvents(values));
    const bodies = new Map<string, Record<string, never>>();
    for (const example of listExamples(values.tokenId ?? plainEconomy.tokenId)) {
      const response = await server.get(example);
      const body = (await response.json()) as Record<string, never>;
      expect([example, response.status, body.error]).toEqual([example, 200, undefined]);
      bodies.set(example, body);
    }
    return bodies;
  };
  return ask;
}

describe('whatever the contracts hold', () => {
  it('every route answers, with a body that its schema accepts', async () => {
    const ask = await startServer();
    const property = fc.asyncProperty(anything, async (values) => void (await ask(values)));
    await fc.assert(property, { numRuns: runs(30) });
  });

  it('what the contracts allow is available and exact, however large', async () => {
    const ask = await startServer();
    const large = [
      ...(['timelockDelay', 'work', 'blockUnits', 'settledRound'] as const),
      ...(['weight', 'nextMergeBlock', 'allowlistStart', 'allowlistEnd', 'publicPrice'] as const),
    ];
    const allowed = fc.record({
      ...(Object.fromEntries(
        large.map((name) => [name, fc.constantFrom(1n, 2n ** 53n + 1n, maxOf(name))]),
      ) as Record<(typeof large)[number], fc.Arbitrary<bigint>>),
      decimals: fc.constantFrom(0, 255),
    });
    await fc.assert(
      fc.asyncProperty(allowed, async (values) => {
        const processedRound = values.settledRound;
        const bodies = await ask({ ...values, processedRound, firstRound: 1n, accumulatedPerWeight: 1n });
        for (const [path, { status }] of bodies) expect([path, status]).toEqual([path, 'available']);
        expect(bodies.get('/v1/core')).toMatchObject({
          configuration: {
            genesisTimestamp: String(plainEconomy.genesisTimestamp),
            roundDuration: String(plainEconomy.roundDuration),
          },
          core: { cumulativeWork: String(values.work), settledThroughRound: String(values.settledRound) },
        });
        expect(bodies.get('/v1/mining/state')).toMatchObject({
          collection: { publicPriceBaseUnits: String(values.publicPrice) },
          asset: { decimals: values.decimals },
        });
      }),
      { numRuns: runs(15) },
    );
  });
});
