import { type ComponentType, h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import type { ListName, ListPlace } from '../../../http/addresses/place.ts';
import { Columns } from '../../../http/explorer/charts/Columns.tsx';
import { HeatMap } from '../../../http/explorer/charts/HeatMap.tsx';
import { findTime } from '../../../http/explorer/charts/observed.ts';
import { DataTable } from '../../../http/explorer/components/DataTable.tsx';
import { More } from '../../../http/explorer/components/More.tsx';
import { type Page, PageContext } from '../../../http/explorer/components/pageContext.ts';
import { Wheel } from '../../../http/explorer/components/Wheel.tsx';
import { time, writeTimes, type Zone } from '../../../http/explorer/format/times.ts';
import { Settlements } from '../../../http/explorer/views/settlements/Settlements.tsx';
import recorded from '../../../http/routes/documentation/examples.json' with { type: 'json' };
import { writeCsv, writeImage } from '../../../http/server/pages/tableFiles.ts';
import { useTimeZone } from '../../support/explorer/useTimeZone.ts';

/** Renders a component. @returns its HTML, with its times in a zone. */
function render<Props extends object>(
  component: ComponentType<Props>,
  props: Props,
  change: Partial<Page> = {},
  zone: Zone = 'UTC',
) {
  const page = { read: () => null, settings: {}, sources: [], ...change } as unknown as Page;
  const rendered = renderToString(
    h(PageContext.Provider, { value: page }, h(component as ComponentType, props)),
  );
  const html = rendered.replace(
    /(data-times="([^"]*)"[^>]*>)[^<]*/g,
    (_, tag: string, text: string) => tag + writeTimes(text, zone),
  );
  const listAttributes = (tag: string, name: string) =>
    [...html.matchAll(new RegExp(`<${tag} [^>]*?\\b${name}="([^"]*)"`, 'g'))].map(([, value]) => value);
  const texts = (listAttributes('div', 'data-texts')[0] ?? '')
    .split('\n')
    .map((text) => writeTimes(text, zone));
  return { html, texts, listAttributes };
}

/** The first reading was long ago, and no half hour is running. */
const longAgo = { firstObservedMs: 0, generatedMs: 0 };

const formatDayAndHalfHour = (date: string, minute: number, zone: Zone) =>
  writeTimes(time('dayAndHalfHour', findTime(date, minute)), zone);

describe('half hours', () => {
  it.each([
    ['America/New_York', '2026-11-01'],
    ['America/New_York', '2026-03-08'],
    ['Europe/London', '2026-10-25'],
    ['Atlantic/Azores', '2026-10-25'],
    ['Australia/Lord_Howe', '2026-04-05'],
    ['Pacific/Chatham', '2026-04-05'],
    ['Africa/Casablanca', '2026-02-15'],
    ['Asia/Kathmandu', '2026-11-01'],
  ])('have different names on days around %s, %s', (timeZone, change) => {
    useTimeZone(timeZone);
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' });
    const names = new Set<string>();
    for (const day of [-2, -1, 0, 1]) {
      const noonMs = Date.parse(`${change}T12:00:00Z`) + day * 86_400_000;
      const date = new Date(noonMs).toISOString().slice(0, 10);
      for (let startMs = noonMs; startMs < noonMs + 86_400_000; startMs += 1_800_000) {
        const name = formatDayAndHalfHour(date, (startMs / 60_000) % 1_440, 'local');
        expect(/, (\d\d:\d\d)–/.exec(name)?.[1]).toBe(clock.format(startMs));
        names.add(name);
      }
    }
    expect(names.size).toBe(4 * 48);
  });

  it('are darker with more work, and hatched, marked or empty otherwise', () => {
    const bucket = (startMinuteUtc: number, coverage: string, workUnits: string | null) =>
      ({ startMinuteUtc, coverage, workUnits, observedRoundCount: 3 }) as never;
    const day = (date: string, work: number) => ({
      date,
      coverage: { expectedRoundCount: 144, observedRoundCount: 72, coverageBps: 5_000 },
      observedWorkUnits: `${work}`,
      distanceMm: null,
      buckets: [
        bucket(0, 'partial', '5'),
        bucket(30, 'missing', null),
        bucket(720, 'complete', '0'),
        bucket(750, 'future', null),
      ],
    });
    const days = [
      day('2026-11-22', 1_000),
      { ...day('2026-11-23', 10), buckets: [bucket(720, 'complete', '50')] },
    ];
    const { html, texts, listAttributes } = render(HeatMap, { days, known: longAgo });
    expect(html.match(/<path [^>]*>/g)).toEqual([
      '<path class="heat-5" d="M0.5 1h9v18h-9z">',
      '<path class="zero" d="M0.5 15h9v4h-9z">',
      '<path class="future" d="M14 10h2">',
      '<path class="heat-1" d="M20.5 1h9v18h-9z">',
      '<path class="partial-corner" d="M29.5 1v18l-9 -18z" fill="url(#hatching)">',
      '<path class="missing" d="M30.5 1h9v18h-9z" fill="url(#hatching)">',
    ]);
    expect(listAttributes('tr', 'id')).toEqual(['2026-11-23', '2026-11-22']);
    expect(listAttributes('svg', 'aria-label')).toEqual([
      '23 Nov: 10 work units observed so far, 50\u00a0% of its rounds',
      '22 Nov: 1,000 work units observed, 50\u00a0% of its rounds',
    ]);
    expect(texts).toEqual([
      '23 Nov, 12:00–12:30 UTC: 50 work units, complete',
      '22 Nov, 12:00–12:30 UTC: 0 work units, complete',
      '22 Nov, 12:30–13:00 UTC: still to come',
      '22 Nov (on 23 Nov), 00:00–00:30 UTC: 5 work units, partial: a part was not observed',
      '22 Nov (on 23 Nov), 00:30–01:00 UTC: unknown, missing: not observed, so unknown',
    ]);
  });
});

it('days of settlements are named once, even where clocks go back', () => {
  useTimeZone('Atlantic/Azores');
  const history = recorded.bodies.SettlementHistory.answer;
  const [like] = history.buckets;
  const startMs = Date.UTC(2026, 9, 22);
  const at = (hours: number) => new Date(startMs + hours * 3_600_000).toISOString();
  const buckets = Array.from({ length: 28 }, (_, index) => ({
    ...like,
    startAt: at(index * 6),
    endAt: at(index * 6 + 6),
  }));
  const read = (name: string) => (name === 'settlements' ? { ...history, buckets } : null) as never;
  const place = { view: 'settlements', range: '7d' } as const;
  const { html } = render(Settlements, place, { read }, 'local');
  const labels = [...html.matchAll(/<text [^>]*>(\d+ Oct)/g)].map(([, text]) => text);
  expect(labels).toEqual([22, 23, 24, 25, 26, 27, 28].map((day) => `${day} Oct`));
});

describe('a chart', () => {
  it('has columns up to its largest value, and none for unknown', () => {
    const marks = (
      [
        ['a', 10, 'complete', 5],
        ['b', 0, 'complete', 20],
        ['c', null, 'missing', null],
        ['d', 3, 'future', 5],
        ['e', 0.01, 'running', 5],
      ] as const
    ).map(([key, value, state, reference]) => ({ key, value, state, text: key, reference }));
    const { html } = render(Columns, {
      id: 'work',
      caption: 'Work',
      marks,
      ticks: [],
    });
    expect(html.match(/<rect [^>]*>/g)).toEqual([
      '<rect class="column complete" x="1" y="50" width="8" height="50">',
      '<rect class="zero complete" x="11" y="97.5" width="8" height="2.5">',
      '<rect class="missing" x="21" y="0" width="8" height="100" fill="url(#hatching)">',
      // It stands on the ground, even if there is next to no work yet.
      '<rect class="column running" x="41" y="97.5" width="8" height="2.5">',
    ]);
    expect(html.match(/<path class="reference"[^>]*>/g)).toEqual([
      '<path class="reference" d="M0 75.0h10V0.0h10M30 75.0h10V75.0h10">',
    ]);
  });

  it('has a scale of round values', () => {
    const marks = [{ key: 'a', value: 97, state: 'complete', text: 'a' } as const];
    const { html } = render(Columns, { id: 'work', caption: 'Work', marks, ticks: [] });
    const scale = [...html.matchAll(/<text x="100%" y="([^"]*)"[^>]*>([^<]*)/g)].map(([, y, text]) => [
      text,
      y,
    ]);
    expect(scale).toEqual([
      ['0', '100%'],
      ['50', '50%'],
      ['100', '0%'],
    ]);
  });
});

it.each([
  [0, 'resting', ''],
  [1_000, 'turning', 'turn-1'],
  [7_500, 'turning', 'turn-1'],
  [10_000, 'turning', 'turn-2'],
  [30_000, 'turning', 'turn-3'],
  [60_000, 'turning', 'turn-4'],
  [90_000, 'turning', 'turn-4'],
  [30_000, 'stale', ''],
] as const)('a wheel at %i thousandths rpm, %s, is drawn as "%s"', (rpmMilli, state, speed) => {
  expect(render(Wheel, { state, rpmMilli }).html).toContain(`class="rotor ${speed}"`);
});

it('further pages have an address, and the last one has none', () => {
  const link = (place: ListPlace, list: ListName, cursor: string | null) =>
    render(More, { place, list, cursor, text: 'More' }).listAttributes('a', 'href');
  expect(link({ view: 'feed', category: 'players' }, 'events', 'a+b')).toEqual([
    '/feed?category=players&amp;cursor=a%2Bb',
  ]);
  const owner = { view: 'owners', address: '0xa' } as const;
  expect(link(owner, 'activity', 'next')).toEqual(['/owners/0xa?list=activity&amp;cursor=next']);
  expect(link(owner, 'activity', null)).toEqual([]);
});

it('a table is a file of quoted values, empty where unknown', () => {
  const rows = [['a,"b"\n', '1234'] as const, ['c', null] as const];
  const table = {
    caption: 'Days',
    rows,
    columns: [
      { name: 'day', value: ([day]: readonly [string, string | null]) => day, isText: true },
      { name: 'work, in units', value: ([, work]: readonly [string, string | null]) => work },
    ],
  };
  expect(writeCsv(table)).toBe('day,"work, in units"\r\n"a,""b""\n",1234\r\nc,\r\n');
  const { html } = render(DataTable, { id: 'days', table, file: '/tables/days.csv' });
  const cells = [...html.matchAll(/<td[^>]*>([^<]*)/g)].map(([, cell]) => cell);
  expect(cells).toEqual(['a,&quot;b&quot;\n', '1,234', 'c', 'unknown']);
  const count = (length: number) => {
    const many = Array.from({ length }, () => rows[1] as readonly [string, null]);
    const shown = render(DataTable, {
      id: 'days',
      table: { ...table, rows: many },
      file: '/tables/days.csv',
    });
    return shown.listAttributes('a', 'href').length + shown.html.split('<td').length - 1;
  };
  // The files have all rows, also where they are not in the page.
  expect([count(400), count(401)]).toEqual([802, 2]);
});

it('the image of a table has a column for each row, hatched where it is unknown, lighter where it is partly observed', () => {
  const rows = [4, null, 2, 0].map((work, hour) => ({ at: `2026-11-25T0${hour}:00:00Z`, work }));
  const columns = [
    { name: 'from_utc', value: ({ at }: (typeof rows)[number]) => at, isText: true },
    { name: 'work_units', value: ({ work }: (typeof rows)[number]) => work },
    { name: 'coverage', value: ({ work }: (typeof rows)[number]) => (work === 2 ? 'partial' : 'complete') },
  ];
  const image = writeImage({ caption: 'Half hours & <more>', rows, columns, drawn: 'work_units' }, 'Wheel.');
  const bars = [...(image ?? '').matchAll(/<rect x="[\d.]+" y="([\d.]+)" .*? fill="([^"]+)"/g)];
  expect(bars.map(([, y, fill]) => [y, fill])).toEqual([
    ['74', '#0b6a56'],
    ['74', 'url(#unknown)'],
    ['217', '#85b5aa'],
    ['360', '#0b6a56'],
  ]);
  expect([...(image ?? '').matchAll(/<text [^>]*>([^<]*)/g)].map(([, text]) => text)).toEqual([
    'Half hours &amp; &lt;more>',
    'work units',
    '4',
    '0',
    '2026-11-25 00:00 UTC',
    '2026-11-25 03:00 UTC',
    'Wheel. Lighter: partly observed, or so far. Hatched: unknown.',
  ]);
  expect(writeImage({ caption: 'Activity', rows, columns }, '')).toBeNull();
  expect(writeImage({ caption: 'Nothing', rows: [], columns, drawn: 'work_units' }, '')).toBeNull();
});

it.each([
  [12_345_678_901_234_567n, '1.5E16'],
  [123_456n, '150K'],
  ['0.000000000000000003', '3e-18'],
])('the image of %s has a short label, and a source in lines that fit', (value, label) => {
  const columns = [
    { name: 'day', value: () => '2026-11-25', isText: true },
    { name: 'earned', value: () => String(value) },
  ];
  const source = `Mining activity of ${'w'.repeat(128)} (simulated). Owner 0x${'ab'.repeat(20)}.`;
  const image = writeImage({ caption: 'Earnings', rows: [0], columns, drawn: 'earned' }, source) ?? '';
  const [, , largest, , , , ...lines] = [...image.matchAll(/<text [^>]*>([^<]*)/g)].map(
    ([, text]) => text ?? '',
  );
  expect(largest).toBe(label);
  expect(lines.join('')).toBe(source);
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(100);
});
