import { describe, expect, it } from 'vitest';
import { formatDay } from '../../http/addresses/days.ts';
import { describeDistance } from '../../http/explorer/format/quantities.ts';
import { startLocalService } from '../support/explorer/localService.ts';
import { shareInFile } from '../support/processes/lifetime.ts';

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

const listLinks = (html: string) =>
  [...html.matchAll(/<a [^>]*href="(\/[^"#]*)/g)].map(([, address = '']) => address.replaceAll('&amp;', '&'));

describe('the pages of what npm start runs', () => {
  it('have no dead link, and lead to every kind of record', async () => {
    const { read } = await start();
    const linked = new Set(['/']);
    const broken: string[] = [];
    const follow = async (path: string) => {
      const { status, html } = await read(path);
      if (status !== 200) broken.push(`${path} is ${status}`);
      for (const link of isRead(path) ? listLinks(html) : []) linked.add(link);
    };
    for (let count = 0; count < linked.size; ) {
      const next = [...linked].slice(count, count + atOnce);
      count += next.length;
      await Promise.all(next.map(follow));
    }
    expect(broken).toEqual([]);
    for (const kind of ['miners', 'rounds', 'transactions', 'owners', 'days'])
      expect([...linked].filter((path) => path.startsWith(`/${kind}/`))).not.toEqual([]);
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
    const yesterday = `yesterday,\u00a0${formatDay(date)}: ${value}\u00a0${unit}`;
    expect((await read('/')).html).toContain(`<a href="${path}">${yesterday}</a>`);
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
