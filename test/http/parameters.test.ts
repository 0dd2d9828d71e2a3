import { getAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { routes } from '../../http/routes/routes.ts';
import { createEconomyViews, mintMore, stateOwner as owner } from '../support/chain/economyState.ts';
import { buildFeedEvent, replaceFeed, rewardsClaimed } from '../support/chain/feedOfEvents.ts';
import { examplePath } from '../support/http/examplePath.ts';
import { expectError } from '../support/http/expectError.ts';
import { startPublicServer } from '../support/http/publicServer.ts';
import { shareInFile } from '../support/processes/lifetime.ts';

/** A server over the state of an economy with two positions, and two events. */
const start = shareInFile(() => {
  const events = [0, 1].map((index) => buildFeedEvent(rewardsClaimed, index));
  return startPublicServer({ chain: replaceFeed(createEconomyViews({}, ...mintMore(2n)).views, events) });
});

const checksummed = getAddress(owner);
const wrongChecksum = checksummed
  .replace(/[a-f]/, (digit) => digit.toUpperCase())
  .replace(/[A-F](?=[^A-F]*$)/, (digit) => digit.toLowerCase());
const noOwners = [
  '0x1',
  owner.slice(2),
  wrongChecksum,
  `0x${'0'.repeat(40)}`,
  `${owner}0`,
  owner.toUpperCase(),
];
const hash = `0x${'3f'.repeat(32)}`;
const noTimes = ['', 'today', '1', '2026-02-30', '2026-11-25T25:00Z'];

/** Segments of a path that no route takes, and for some that routes take the ones that mean the same. */
const segments: Readonly<Record<string, readonly [wrong: string[], right?: Record<string, string>]>> = {
  installationId: [
    ['a%20b', 'a%2Fb', 'a%', 'wheel%2', 'wheel%252D1', '%zz', 'a~b', 'x'.repeat(129), '%C3%A9'],
    { 'wheel%2D1': 'wheel-1', a: 'a', 'A.b_c:d-9': 'A.b_c:d-9', [`${'x'.repeat(127)}%78`]: 'x'.repeat(128) },
  ],
  address: [noOwners, { [checksummed]: owner, [owner.replace('0', '%30')]: owner }],
  tokenId: [['0', '01', '10000', '-1', '1.0', 'a', '%2531', '%31%'], { '%31': '1' }],
  eventId: [['7', 'x:1', 'chain:', 'chain:a b'].map(encodeURIComponent)],
  transactionHash: [[hash.slice(2), hash.toUpperCase(), `${hash}0`], { [hash.replace('0', '%30')]: hash }],
  round: [['0', '01', '-1', '1e3', '1000000000', 'x'], { '%31': '1', '999999999': '999999999' }],
  date: [['2026-02-30', '2026-1-31', 'yesterday', '2026-01-31T00:00Z'], { '2026%2D01-31': '2026-01-31' }],
};

/** For each query parameter a value that its routes take, and values that none of them takes. */
const values: Readonly<Record<string, readonly [right: string, ...wrong: string[]]>> = {
  limit: ['5', '0', '101', '', '1.0', '+1', '01'],
  range: ['7d', '', '1h', '1d', '7D'],
  queue: ['1', '0', ''],
  category: ['all', '', 'none'],
  type: ['player.miner_minted', '', 'none'],
  owner: [owner, '', ...noOwners, `${owner},`, owner.replace('0x', '0X'), Array(21).fill(owner).join(',')],
  tokenId: ['3', '', '0', '10000', '1;2'],
  transaction: [hash, '', '0x1', `${hash},${hash}`],
  ethereumBlock: ['2', '', '-1'],
  from: ['2026-01-31', ...noTimes],
  to: ['2026-01-31T00:00:00.123456789Z', ...noTimes, '2026-01-31T00:00:00.1234567890Z'],
  q: ['yesterday', '', 'x'.repeat(201)],
  release: ['release-1', '', 'wrong'],
};

it.each(routes.flatMap((route) => (route.pathParameter === null ? [] : [[route.path, route.pathParameter]])))(
  'a parameter in the path %s is well-formed, and decoded once',
  async (path, parameter) => {
    const { name, error } = parameter as Exclude<(typeof routes)[number]['pathParameter'], null>;
    const { get } = await start();
    const ask = (segment: string) => get(String(path).replace(`{${name}}`, segment));
    const [wrong, right = {}] = segments[name] ?? [[]];
    expect(wrong).not.toEqual([]);
    for (const segment of wrong) await expectError(await ask(segment), 400, error, segment);
    for (const [segment, decoded] of Object.entries(right)) {
      const [response, plain] = [await ask(segment), await ask(decoded)];
      expect([segment, response.status, await response.json()]).toEqual([segment, 200, await plain.json()]);
    }
  },
);

/** Routes whose query is checked. Observations take any, as their own tests say. */
const checked = routes.flatMap((route) =>
  typeof route.query === 'string' || route.path.endsWith('/observations')
    ? []
    : [[route.path, route, route.query] as const],
);
const takes = (route: (typeof routes)[number], code: 'invalid_cursor') => route.errors.includes(code);

describe('the query', () => {
  it.each(checked)(
    'of %s has each of its parameters once, with a value of its form',
    async (_, route, query) => {
      const { get } = await start();
      const [pathname = '', given = ''] = examplePath(route).split('?');
      const refuse = async (search: string, code: 'invalid_query' | 'invalid_cursor' = 'invalid_query') =>
        expectError(await get(`${pathname}?${search}`), 400, code, search);
      /** The required parameters but one, and then others. */
      const ask = (without: string, ...others: string[]) =>
        [...given.split('&').filter((one) => one !== '' && !one.startsWith(`${without}=`)), ...others].join(
          '&',
        );
      const own = new Map(query.map(({ name, isRequired = false }) => [name, isRequired]));
      for (const name of ['other', ...[...own.keys()].map((name) => name.toUpperCase())])
        await refuse(ask('', `${name}=1`));
      for (const [name, [right, ...wrong]] of Object.entries(values)) {
        const isRequired = own.get(name);
        const taken = await get(`${pathname}?${ask(name, `${name}=${right}`)}`);
        expect([name, taken.status]).toEqual([name, isRequired === undefined ? 400 : 200]);
        if (isRequired === undefined) continue;
        if (isRequired) await refuse(ask(name));
        for (const value of wrong) await refuse(ask(name, `${name}=${encodeURIComponent(value)}`));
        await refuse(ask(name, `${name}=${right}`, `${name}=${right}`));
      }
      if (!own.has('cursor')) return;
      // Owners of plain routes have one error for all cursors.
      const isPlain = takes(route, 'invalid_cursor');
      const ofForm = pathname.startsWith('/v1/owners/') ? 'invalid_cursor' : 'invalid_query';
      for (const cursor of ['', 'a.b', 'a'.repeat(513)]) await refuse(ask('', `cursor=${cursor}`), ofForm);
      await refuse(ask('', 'cursor=abc', 'cursor=abc'));
      if (isPlain) await refuse(ask('', 'cursor=abc'), 'invalid_cursor');
    },
  );

  it('has owners in lower case on public routes', async () => {
    const { get } = await start();
    for (const list of ['portfolio', 'activity'])
      await expectError(await get(`/v2/public/miners/${list}?owner=${checksummed}`), 400, 'invalid_query');
    expect((await get(`/v1/events?owner=${checksummed}`)).status).toBe(200);
  });

  it('has a cursor of its own list', async () => {
    const { get } = await start();
    const read = async (list: string): Promise<[string, string]> => {
      const { nextCursor } = (await (await get(`/v1/${list}limit=1`)).json()) as { nextCursor: string };
      return [list, nextCursor];
    };
    const given = await Promise.all(['miners?', 'events?category=players&'].map(read));
    const lists = ['miners?', 'owners?', 'rounds?', 'batches?', 'checkpoints?', 'events?'];
    for (const list of [...lists, `events?category=players&`, `owners/${owner}/miners?`])
      for (const [of, cursor] of given) {
        const response = await get(`/v1/${list}cursor=${cursor}`);
        if (of === list) expect([list, response.status]).toEqual([list, 200]);
        else await expectError(response, 400, 'invalid_cursor', list);
      }
    await expectError(await get(`/v2/public/events?cursor=${given[1]?.[1]}`), 400, 'invalid_cursor');
  });
});
