import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type RateClass, rateClasses, siteFactor } from '../../http/routes/rateClasses.ts';
import { createRateLimiter } from '../../http/server/limits/rateLimiter.ts';
import { decodeAddress, parseAddress, toClient, toSite } from '../../http/server/requests/ipAddress.ts';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { requestStatus } from '../support/http/requestStatus.ts';

/** A bucket as a textbook has it: tokens that grow with time up to the burst, kept for each address and class. */
function plainLimiter() {
  const buckets = new Map<string, { tokens: number; atMs: number }>();
  return (address: string, rateClass: RateClass, nowMs: number): boolean => {
    const { perSecond, burst } = rateClasses[rateClass];
    const key = `${address} ${rateClass}`;
    const bucket = buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) * perSecond) / 1000);
    const isAllowed = tokens >= 1;
    buckets.set(key, { tokens: isAllowed ? tokens - 1 : tokens, atMs: nowMs });
    return isAllowed;
  };
}

const words = (text: string) => {
  const address = parseAddress(text);
  if (address === null) throw new Error(`${text} is no address`);
  return address;
};

describe('rate limiter', () => {
  it('decides as a plain token bucket does, for any order of requests', () => {
    const request = fc.record({
      address: fc.constantFrom('10.0.0.1', '10.0.0.2', '2001:db8::1'),
      rateClass: fc.constantFrom<RateClass>('publicFast', 'publicHeavy', 'metadata'),
      // Whole multiples of the time of one token, so that no rounding can decide.
      waitMs: fc.constantFrom(0, 0, 0, 0, 0, 0, 100, 200, 1_000, 5_000),
      times: fc.integer({ min: 1, max: 40 }),
    });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
        const limiter = createRateLimiter();
        const plain = plainLimiter();
        let nowMs = 1_000;
        for (const { address, rateClass, waitMs, times } of requests) {
          nowMs += waitMs;
          for (let time = 0; time < times; time++) {
            const { waitSeconds } = limiter.take(words(address), rateClass, nowMs);
            expect(waitSeconds === 0).toBe(plain(address, rateClass, nowMs));
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('needs no more memory for a million addresses, and still limits each of them', () => {
    const limiter = createRateLimiter();
    const busy = words('203.0.113.9');
    limiter.take(busy, 'publicHeavy', 1_000);
    const before = process.memoryUsage();
    let refused = 0;
    for (let index = 0; index < 1_000_000; index++) {
      limiter.take([0x20010db8, index >>> 16, index, 7], 'publicFast', 1_000 + index / 1_000);
      if (index % 1_000 === 0 && limiter.take(busy, 'publicHeavy', 1_000 + index / 1_000).waitSeconds > 0)
        refused++;
    }
    // New clients take the places of those that were seen least recently, not of each other.
    const newcomers = Array.from({ length: 10 }, (_, index) => words(`198.51.100.${index}`));
    for (const newcomer of newcomers)
      for (let request = 0; request < rateClasses.publicHeavy.burst; request++)
        limiter.take(newcomer, 'publicHeavy', 2_000);
    for (let index = 0; index < 16_000; index++)
      limiter.take([0x20010db9, index, index, 7], 'publicFast', 2_001);
    const limited = newcomers.filter((one) => limiter.take(one, 'publicHeavy', 2_002).waitSeconds > 0);
    expect(limited.length).toBeGreaterThan(7);
    const after = process.memoryUsage();
    expect(limiter.capacity).toBe(65_536);
    expect(after.arrayBuffers).toBeLessThanOrEqual(before.arrayBuffers + 1_000_000);
    // 1,001 requests in one second: the burst and five more may pass.
    expect(refused).toBeGreaterThan(900);
  });
});

describe('an address', () => {
  it('is the same from the bytes of a socket as from text', () => {
    const decode = (hex: string) => decodeAddress(new Uint8Array(Buffer.from(hex, 'hex')).buffer);
    expect(decode('c0000207')).toEqual(words('192.0.2.7'));
    expect(decode('fd000db8ffff0002fffe0004fffd0006')).toEqual(words('fd00:db8:ffff:2:fffe:4:fffd:6'));
  });

  it.each([
    ['192.0.2.7', '192.0.2.7', null],
    ['::ffff:192.0.2.7', '192.0.2.7', null],
    ['64:ff9b::192.0.2.7', '192.0.2.7', null],
    ['64:ff9b::1:192.0.2.7', '64:ff9b::', '64:ff9b::ffff:ffff:0:30'],
    ['64:ff9b:0:1::192.0.2.7', '64:ff9b:0:1::', '64:ff9b::ffff:ffff:0:30'],
    ['64:ff9c::192.0.2.7', '64:ff9c::', '64:ff9c::ffff:ffff:0:30'],
    ['::192.0.2.7', '::', '::ffff:ffff:0:30'],
    ['0:0:0:1::ffff:192.0.2.7', '0:0:0:1::', '::ffff:ffff:0:30'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::', '2001:db8:1:0:ffff:ffff:0:30'],
    ['fd00:1:ffff:fffe:3:4:5:6', 'fd00:1:ffff:fffe::', 'fd00:1:ffff:0:ffff:ffff:0:30'],
  ])('%s counts for the client %s, and for the site %s', (text, client, site) => {
    expect(toClient(words(text))).toEqual(words(client));
    expect(toSite(words(text))).toEqual(site === null ? null : words(site));
  });
});

describe('rate limits over HTTP', () => {
  it('is said in advance: policy, and what is left', async () => {
    const server = await startPublicServer({ rateLimits: true });
    const readFields = async (path: string, headers = {}) => {
      const { status, headers: sent } = await server.get(path, headers);
      return [status, sent.get('ratelimit-policy'), sent.get('ratelimit')];
    };
    const heavy = '"publicHeavy";q=20;w=4';
    expect(await readFields('/v1/events?limit=0')).toEqual([400, heavy, '"publicHeavy";r=19;t=4']);
    server.clock.advance(200);
    for (let left = 19; left >= 0; left--) {
      const seconds = Math.max(1, Math.ceil(left / 5));
      expect(await readFields('/v1/events')).toEqual([200, heavy, `"publicHeavy";r=${left};t=${seconds}`]);
    }
    expect(await readFields('/v1/events')).toEqual([429, heavy, '"publicHeavy";r=0;t=1']);
    const refused = await server.get('/v1/events');
    await expectError(refused, 429, 'rate_limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    const fast = (left: number) => ['"publicFast";q=60;w=2', `"publicFast";r=${left};t=2`];
    expect(await readFields('/v1/status')).toEqual([200, ...fast(59)]);
    expect(await readFields('/v1/status', { 'If-None-Match': '*' })).toEqual([304, ...fast(58)]);
    expect(await readFields('/llms.txt')).toEqual([200, '"other";q=60;w=3', '"other";r=59;t=3']);
    const unlimited = await startPublicServer();
    expect((await unlimited.get('/v1/status')).headers.get('ratelimit-policy')).toBeNull();
  });

  it('counts each list and record that a page reads', async () => {
    const server = await startPublicServer({ rateLimits: true });
    for (const [path, left] of [
      ['/rounds/1', 19],
      ['/miners/1', 17],
      [`/owners/0x${'ab'.repeat(20)}`, 15],
      ['/feed', 14],
      ['/tables/days.csv', 13],
    ] as const) {
      const { headers } = await server.get(path);
      expect([path, headers.get('ratelimit')]).toEqual([path, expect.stringContaining(`r=${left};`)]);
    }
    for (let page = 0; page < 6; page++) await server.get('/miners/1');
    // The page itself has a token left, and one of its bodies has none.
    const refused = await server.get('/miners/1');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect([(await server.get('/v1/events')).status, (await server.get('/')).status]).toEqual([429, 200]);
  });

  it('limits the address that a configured proxy names, not one that a client invented', async () => {
    const server = await startPublicServer({
      rateLimits: true,
      trustedProxies: ['127.0.0.0/8', '10.0.0.0/8'],
    });
    const url = `${server.base}/v1/public/installations/wheel-1/observations`;
    const ask = (...lines: string[]) => requestStatus(url, { 'X-Forwarded-For': lines });
    // Several lines are one list, and the proxy wrote its end.
    for (let request = 0; request < 10; request++) {
      expect(await ask(`192.0.2.${request}, 198.51.100.4, 10.1.2.3`)).toBe(200);
      expect(await ask(`192.0.2.${request}`, '198.51.100.4')).toBe(200);
    }
    for (const [expected, ...lines] of [
      [429, '192.0.2.99, 198.51.100.4, 10.1.2.3'],
      [429, '192.0.2.99', '198.51.100.4'],
      [200, '198.51.100.4', '198.51.100.5'],
    ] as const)
      expect([lines, await ask(...lines)]).toEqual([lines, expected]);
  });
});

describe('the address of a client', () => {
  const { burst } = rateClasses.publicHeavy;

  /** Number of requests that pass at a time, from this number of addresses. */
  const createCount = () => {
    const limiter = createRateLimiter();
    return (count: number, addressOf: (index: number) => string, nowMs = 1_000) =>
      Array.from({ length: count }, (_, index) => {
        const words = parseAddress(addressOf(index));
        return words !== null && limiter.take(words, 'publicHeavy', nowMs).waitSeconds === 0;
      }).filter((isPassed) => isPassed).length;
  };

  it('is one client in a /64, apart from its /48', () => {
    const countPassed = createCount();
    for (const network of ['2001:db8:1:2', '2001:db8:1:3'])
      expect(countPassed(1_000, (host) => `${network}::${host.toString(16)}`)).toBe(burst);
  });

  it.each<[string, (index: number) => string]>([
    ['begin alike', (index) => `2001:db8:${index.toString(16)}::1`],
    ['end alike', (index) => `2001:${index.toString(16)}:7::1`],
    ['are IPv4', (index) => `10.7.${index >> 8}.${index & 255}`],
  ])('is not taken for one of thousands that %s', (_, addressOf) => {
    const countPassed = createCount();
    expect(countPassed(2 * burst, () => addressOf(60_000))).toBe(burst);
    expect(countPassed(40_000, addressOf)).toBe(40_000);
  });

  it('has sixteen times that in a /48, and nothing of another one', () => {
    const countPassed = createCount();
    for (const site of ['2001:db8:1', '2001:db8:2'])
      for (const nowMs of [1_000, 1_000 + burst * 1_000])
        expect(
          countPassed(100 * burst, (request) => `${site}:${(request % 100).toString(16)}::1`, nowMs),
        ).toBe(siteFactor * burst);
  });
});
