import { describe, expect, it } from 'vitest';
import { describeDistance } from '../../http/explorer/format/quantities.ts';
import { startLocalService } from '../support/explorer/localService.ts';
import { shareInFile } from '../support/processes/lifetime.ts';

interface Feed {
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly source: { readonly transactionHash?: string };
    readonly payload: Readonly<Record<string, unknown>>;
  }[];
}

const clicksMax = 3;
/** Pages that are read at the same time. */
const atOnce = 8;
/** Documents, bodies and files are answered, but their links are not followed. */
const isRead = (path: string) => !/^\/(?:docs|schemas|openapi|v\d|explorer|tables)/.test(path);

const start = shareInFile(async () => {
  const service = await startLocalService({ MINER_RATE_LIMITS: 'off' });
  const read = async (path: string): Promise<{ readonly status: number; readonly html: string }> => {
    const response = await fetch(`${service.url}${path}`, { headers: { Accept: 'text/html' } });
    const html = await response.text();
    // A busy machine sheds requests.
    return response.status === 503 ? read(path) : { status: response.status, html };
  };
  return { service, read };
});

function listLinks(html: string): string[] {
  const links = [...html.matchAll(/<a [^>]*href="([^"#]*)/g)].map(([, address = '']) =>
    address.replaceAll('&amp;', '&'),
  );
  return [...new Set(links.filter((address) => address.startsWith('/')))];
}

/** Follows every link. Returns the number of clicks to each page, and the addresses that are not answered with one. */
async function crawl(read: Awaited<ReturnType<typeof start>>['read']) {
  const clicks = new Map([['/', 0]]);
  const broken: string[] = [];
  for (let next = ['/']; next.length > 0; ) {
    const found: string[] = [];
    const follow = async (path: string) => {
      const { status, html } = await read(path);
      if (status !== 200) broken.push(`${path} is ${status}`);
      const distance = (clicks.get(path) ?? 0) + 1;
      for (const link of isRead(path) ? listLinks(html) : []) {
        if (clicks.has(link)) continue;
        clicks.set(link, distance);
        found.push(link);
      }
    };
    for (let from = 0; from < next.length; from += atOnce)
      await Promise.all(next.slice(from, from + atOnce).map(follow));
    next = found;
  }
  return { clicks, broken };
}

describe('the pages of what npm start runs', () => {
  it('have no dead link, and whatever the feed names is three clicks away', async () => {
    const { service, read } = await start();
    const feed = await service.json<Feed>('/v1/events?limit=40');
    const { clicks, broken } = await crawl(read);
    expect(broken).toEqual([]);
    const named = feed.events.flatMap(({ type, source, payload }) => {
      const findNext = (round: unknown) => `/rounds/${BigInt(String(round)) + 1n}`;
      const places: string[] = [];
      if (source.transactionHash !== undefined) places.push(`/transactions/${source.transactionHash}`);
      if (payload.owner !== undefined) places.push(`/owners/${payload.owner}`);
      switch (type) {
        case 'system.settlement_completed':
          places.push(
            findNext(payload.previousSettledThroughRound),
            `/rounds/${payload.settledThroughRound}`,
          );
          break;
        case 'system.mining_checkpointed':
          places.push(findNext(payload.afterRound), `/rounds/${payload.throughRound}`);
          break;
        case 'player.miner_minted':
          places.push(`/miners/${payload.tokenId}`, `/rounds/${payload.firstRound}`);
          break;
        case 'player.miners_merged':
          places.push(`/miners/${payload.survivorTokenId}`, `/miners/${payload.donorTokenId}`);
          break;
        case 'player.rewards_claimed':
          places.push(...(payload.tokenIds as string[]).map((miner) => `/miners/${miner}`));
          break;
        case 'measurement.daily_distance_milestone':
          places.push(`/days/${payload.utcDate}`);
          break;
      }
      return places;
    });
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((place) => (clicks.get(place) ?? 99) > clicksMax)).toEqual([]);
    for (const kind of ['miners', 'rounds', 'transactions', 'owners', 'days'])
      expect([...clicks.keys()].filter((path) => path.startsWith(`/${kind}/`))).not.toEqual([]);
  });

  it('say what a merged miner was merged into, with its history', async () => {
    const { service, read } = await start();
    const { events } = await service.json<Feed>('/v1/events?category=players&limit=100');
    const merge = events.find(({ type }) => type === 'player.miners_merged');
    const { donorTokenId: donor, survivorTokenId: survivor } = merge?.payload ?? {};
    const { status, html } = await read(`/miners/${donor}`);
    expect(status).toBe(200);
    expect(html).toMatch(new RegExp(`merged into miner <a href="/miners/${survivor}">${survivor}</a> on`));
    expect(html.split('class="event ').length - 1).toBeGreaterThan(1);
  });

  it('show all events of a transaction', async () => {
    const { service, read } = await start();
    const { events } = await service.json<Feed>('/v1/events?category=players&limit=100');
    const hash = events.at(-1)?.source.transactionHash ?? '';
    const { html } = await read(`/transactions/${hash}`);
    const ofTransaction = events.filter(({ source }) => source.transactionHash === hash);
    for (const { id } of ofTransaction) expect(html).toContain(`id="${id}"`);
  });

  it('have a page and a file for each day', async () => {
    const { service, read } = await start();
    const found = await fetch(`${service.url}/search?q=yesterday`, { redirect: 'manual' });
    const path = found.headers.get('location') ?? '';
    expect(path).toMatch(/^\/days\/\d{4}-\d\d-\d\d$/);
    const { html } = await read(path);
    const date = path.slice(6);
    const { day } = await service.json<{
      day: { distanceMm: string; coverage: Record<string, number> };
    }>(`/v1${path}`);
    const { observedRoundCount: observed, expectedRoundCount: expected } = day.coverage;
    // A day of few readings is shorter than a kilometre.
    const { value, unit, exact } = describeDistance(day.distanceMm);
    const [, cited = ''] = /<blockquote class="citation">([^<]*)/.exec(html) ?? [];
    expect(cited).toContain('(simulated), universal day of');
    expect(cited).toContain(`distance ${value} ${unit} (${exact})`);
    expect(cited).toContain(`${observed} of ${expected} rounds observed. ${service.url}${path}, read on`);
    const days = await fetch(`${service.url}/tables/days.csv`);
    expect(await days.text()).toMatch(new RegExp(`^${date},.*,${day.distanceMm},`, 'm'));
    expect((await read('/')).html).toContain(`<a href="${path}">yesterday\u00a0${value}\u00a0${unit}</a>`);
    expect(html.match(/<tbody>.*?<\/tbody>/s)?.[0].split('<tr').length).toBe(49);
    const file = await fetch(service.url + (/href="(\/tables\/half-hours[^"]*)"/.exec(html)?.[1] ?? ''));
    expect(file.headers.get('content-disposition')).toContain(`half-hours-${date}.csv"`);
    expect((await file.text()).trim().split('\r\n')).toHaveLength(49);
    expect((await read('/tables/half-hours.csv?date=2001-01-01')).status).toBe(404);
    for (const [missing, reason] of [
      ['/days/2999-01-01', 'still to come'],
      ['/days/2001-01-01', 'Nothing is known of 1 Jan 2001'],
    ] as const) {
      const page = await read(missing);
      expect([page.status, page.html]).toEqual([404, expect.stringContaining(reason)]);
    }
  });
});
