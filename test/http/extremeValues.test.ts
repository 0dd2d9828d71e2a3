import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  buildEconomyEvents,
  buildState,
  createStateViews,
  type EconomyValues,
  plainEconomy,
  stateOwner,
} from '../support/chain/economyState.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { runs } from '../support/propertyRuns.ts';

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
const uint64 = upTo(uint64Max);
const uint256 = upTo(uint256Max);

/** Any values that fit the types of the events, including values that only the contracts exclude. */
const anything: fc.Arbitrary<EconomyValues> = fc.record({
  genesisTimestamp: uint64,
  roundDuration: uint64,
  maxWorkPerRound: uint256,
  targetBlocksPerActiveRound: uint64,
  difficultySmoothingRounds: uint64,
  workPerThousandBlocks: uint256,
  timelockDelay: uint256,
  work: uint256,
  blockUnits: uint256,
  previousRound: fc.constant(0n),
  settledRound: upTo(uint64Max, 1n),
  nonce: uint64,
  rewardPerBlock: uint256,
  supplyCap: uint256,
  claimLimit: uint64,
  weight: uint256,
  cooldownBlocks: uint64,
  tokenId: fc.bigInt({ min: 1n, max: 9_999n }),
  nextMergeBlock: uint64,
  firstRound: uint64,
  completedBlockCount: uint64,
  minted: uint256,
  supply: uint256,
  accumulatedPerWeight: uint256,
  processedRound: uint64,
  allowlistStart: uint64,
  allowlistEnd: uint64,
  publicPrice: uint256,
  publicAllocation: uint64,
  protocolReserve: uint64,
  publicMinted: uint64,
  decimals: fc.integer({ min: 0, max: 255 }),
  level: fc.constant(1),
  codeVersion: fc.constantFrom(1n, 2n),
  symbol: fc.oneof(fc.constant('SQK'), fc.string()),
});

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
  const { views, source } = createStateViews(buildState(buildEconomyEvents()));
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
    await fc.assert(
      fc.asyncProperty(anything, async (values) => void (await ask(values))),
      {
        numRuns: runs(30),
      },
    );
  });

  it('what the contracts allow is available and exact, however large', async () => {
    const ask = await startServer();
    const uint = (max: bigint) => fc.constantFrom(1n, 2n ** 53n + 1n, max);
    const allowed = fc.record({
      genesisTimestamp: uint(uint64Max),
      roundDuration: uint(uint64Max),
      timelockDelay: uint(uint256Max),
      work: uint(uint256Max),
      blockUnits: uint(uint256Max),
      settledRound: uint(uint64Max),
      weight: uint(uint256Max),
      nextMergeBlock: uint(uint64Max),
      allowlistStart: uint(uint64Max),
      allowlistEnd: uint(uint64Max),
      publicPrice: uint(uint256Max),
      decimals: fc.constantFrom(0, 255),
    });
    await fc.assert(
      fc.asyncProperty(allowed, async (values) => {
        const processedRound = values.settledRound;
        const bodies = await ask({ ...values, processedRound, firstRound: 1n, accumulatedPerWeight: 1n });
        for (const [path, { status }] of bodies) expect([path, status]).toEqual([path, 'available']);
        expect(bodies.get('/v1/core')).toMatchObject({
          configuration: {
            genesisTimestamp: String(values.genesisTimestamp),
            roundDuration: String(values.roundDuration),
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
