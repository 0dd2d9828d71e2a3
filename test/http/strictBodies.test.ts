import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGuard } from '../../actors/schemas/compileSchema.ts';
import { examples } from '../../http/routes/documentation/examples.ts';
import { createOpenApiDocument } from '../../http/routes/documentation/openApi.ts';
import { nameBody } from '../../http/routes/route.ts';
import { routes } from '../../http/routes/routes.ts';
import { createSchemaValidator, escapePointer } from '../support/http/validateExamples.ts';
import { runs } from '../support/propertyRuns.ts';

type Json = Record<string, unknown>;

const document = JSON.parse(JSON.stringify(createOpenApiDocument()));
const ajv = createSchemaValidator(document);

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

it.each(paths)('a body of %s has no other member', (path) => {
  const { body, isValid, isPublished } = findExamined(path);
  expect([isValid, isPublished].map((accepts) => accepts({ ...body, other: 1 }))).toEqual([false, true]);
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

const chainPaths = paths.filter((path) => findExamined(path).unavailable !== undefined);

it.each(chainPaths)('an unavailable body of %s has one of the reasons that routes emit', (path) => {
  const { unavailable, isValid, isPublished } = findExamined(path);
  const words = ['indexer_disabled', 'not_yet_safe', 'indexer_unavailable', 'indexer_mismatch'];
  // The contract lists them for one route.
  const ofMining = ['projection_rebuilding', 'unsupported_contract_version'];
  for (const reason of [...words, ...ofMining, 'other_contracts', '']) {
    const expected = words.includes(reason) || (path === '/v1/mining/state' && ofMining.includes(reason));
    const body = { ...unavailable, reason };
    expect([reason, isValid(body), isPublished(body)]).toEqual([reason, expected, expected]);
  }
  expect(isValid({ ...unavailable, reason: 'source_disabled' })).toBe(path.endsWith('/events'));
  // No data next to the reason: unknown is never zero.
  expect(isValid({ ...unavailable, generatedAt: '2026-01-31T12:00:00Z' })).toBe(false);
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
    (2n ** 256n).toString(),
    `0x${'a'.repeat(64)}`,
    `0x${'a'.repeat(40)}`,
    '5b0f6f0e-2d0f-4d1c-9a39-0d8a5f4f2c11',
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

  it.each(paths)('says of %s what zod and the published schema say', (path) => {
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
});
