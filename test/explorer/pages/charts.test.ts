import { type ComponentType, h, options, type VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ChartCursor } from '../../../http/explorer/charts/ChartCursor.tsx';
import { Columns } from '../../../http/explorer/charts/Columns.tsx';
import { classifyWork, HeatMap } from '../../../http/explorer/charts/HeatMap.tsx';
import {
  formatDayAndHalfHour,
  formatHalfHour,
  inDayOrder,
  listDayTicks,
} from '../../../http/explorer/charts/halfHours.ts';
import { Line } from '../../../http/explorer/charts/Line.tsx';
import { createLinearScale } from '../../../http/explorer/charts/linearScale.ts';
import { pointAt } from '../../../http/explorer/charts/pointAt.ts';
import { DataTable } from '../../../http/explorer/components/DataTable.tsx';
import { More } from '../../../http/explorer/components/More.tsx';
import { type Page, PageContext } from '../../../http/explorer/components/pageContext.ts';
import { Wheel } from '../../../http/explorer/components/Wheel.tsx';
import { statisticsPath } from '../../../http/explorer/resources.ts';
import { Settlements } from '../../../http/explorer/views/settlements/Settlements.tsx';
import { StatisticsView } from '../../../http/explorer/views/statistics/Statistics.tsx';
import { Year } from '../../../http/explorer/views/statistics/Year.tsx';
import recorded from '../../../http/routes/documentation/examples.json' with { type: 'json' };
import { useTimeZone } from '../../support/explorer/useTimeZone.ts';

/** Renders a component of a page with script. @returns the HTML, and the properties of its elements by their tag. */
function render<Props extends object>(
  component: ComponentType<Props>,
  props: Props,
  change: Partial<Page> = {},
) {
  const elements: Record<string, Record<string, (...given: unknown[]) => void>[]> = {};
  const before = options.vnode;
  options.vnode = (vnode: VNode) => {
    if (typeof vnode.type === 'string') {
      elements[vnode.type] ??= [];
      elements[vnode.type]?.push(vnode.props as never);
    }
    before?.(vnode);
  };
  onTestFinished(() => {
    if (before === undefined) delete options.vnode;
    else options.vnode = before;
  });
  const page = { actions: {}, zone: 'UTC', ...change } as Page;
  const html = renderToString(h(PageContext.Provider, { value: page }, h(component as ComponentType, props)));
  const listAttributes = (tag: string, name: string) =>
    [...html.matchAll(new RegExp(`<${tag} [^>]*?\\b${name}="([^"]*)"`, 'g'))].map(([, value]) => value);
  return { html, elements, listAttributes };
}

describe('the keyboard', () => {
  it.each([
    ['ArrowDown', 0, 3],
    ['ArrowDown', 5, 8],
    ['ArrowDown', 6, null],
    ['ArrowUp', 3, 0],
    ['ArrowUp', 2, null],
    ['ArrowRight', 4, null],
  ])('%s moves from cell %i of three rows to %s', (key, pointed, next) => {
    const onPoint = vi.fn();
    const preventDefault = vi.fn();
    const chart = { label: 'Chart', count: 9, rowLength: 3, describe: String };
    const { elements } = render(ChartCursor, { ...chart, pointed, onPoint });
    elements.input?.[0]?.onKeyDown?.({ key, preventDefault });
    expect(onPoint.mock.calls).toEqual(next === null ? [] : [[next]]);
    expect(preventDefault).toHaveBeenCalledTimes(key === 'ArrowRight' ? 0 : 1);
  });

  it('points at the first cell when it comes, at each one it moves to, and at none when it goes', () => {
    const onPoint = vi.fn();
    const describe = (index: number) => `cell ${index}`;
    const chart = { label: 'Chart', count: 9, pointed: null, describe, onPoint };
    const { html, elements } = render(ChartCursor, chart);
    expect(html).toBe(
      '<input class="cursor" type="range" min="0" max="8" value="0" aria-label="Chart" aria-valuetext="cell 0"/>',
    );
    const [input] = elements.input ?? [];
    input?.onFocus?.();
    input?.onInput?.({ currentTarget: { valueAsNumber: 8 } });
    input?.onBlur?.();
    // A chart of one row leaves the key to the browser.
    input?.onKeyDown?.({ key: 'ArrowDown', preventDefault: onPoint });
    expect(onPoint.mock.calls).toEqual([[0], [8], [null]]);
  });
});

it.each([
  [100, 0],
  [99, 0],
  [149, 0],
  [150, 1],
  [299, 3],
  [300, 3],
  [400, 3],
])('a pointer at %i is in cell %i of four', (clientX, cell) => {
  const points: (number | null)[] = [];
  const { onPointerMove, onPointerDown, onPointerLeave } = pointAt(4, (index) => points.push(index));
  const currentTarget = { getBoundingClientRect: () => ({ left: 100, width: 200 }) };
  for (const point of [onPointerMove, onPointerDown]) point({ clientX, currentTarget } as never);
  for (const pointerType of ['touch', 'mouse']) onPointerLeave({ pointerType } as never);
  expect(points).toEqual([cell, cell, null]);
});

describe('half hours', () => {
  it('are in the order of a universal day', () => {
    const slots = [0, 690, 720, 1_410].map((startMinuteUtc) => ({ startMinuteUtc }));
    expect(inDayOrder(slots).map(({ startMinuteUtc }) => startMinuteUtc)).toEqual([720, 1_410, 0, 690]);
  });

  it('are named by their day, their time and their date', () => {
    const date = '2026-11-22';
    expect([720, 1_410, 690].map((minute) => formatDayAndHalfHour(date, minute, 'UTC'))).toEqual([
      '22 Nov, 12:00–12:30 UTC',
      '22 Nov, 23:30–00:00 UTC',
      '22 Nov (on 23 Nov), 11:30–12:00 UTC',
    ]);
    expect(formatHalfHour(date, 0, 'UTC')).toBe('00:00–00:30 UTC');
    expect(listDayTicks(date, 'UTC').join(' ')).toBe('12:00 16:00 20:00 00:00 04:00 08:00 12:00');
  });

  it('have an end and names of their own on the day on which clocks change', () => {
    useTimeZone('America/New_York');
    const date = '2026-10-31';
    const name = (minute: number) => formatDayAndHalfHour(date, minute, 'local');
    expect([720, 270, 300, 330, 360, 390, 420, 690].map(name)).toEqual([
      '31 Oct, 08:00–08:30 local',
      '31 Oct (on 1 Nov), 00:30–01:00 local',
      '31 Oct (on 1 Nov), 01:00–01:30 UTC−4',
      '31 Oct (on 1 Nov), 01:30 UTC−4–01:00 UTC−5',
      '31 Oct (on 1 Nov), 01:00–01:30 UTC−5',
      '31 Oct (on 1 Nov), 01:30–02:00 UTC−5',
      '31 Oct (on 1 Nov), 02:00–02:30 local',
      '31 Oct (on 1 Nov), 06:30–07:00 local',
    ]);
    expect(listDayTicks(date, 'local').join(' ')).toBe('08:00 12:00 16:00 20:00 00:00 03:00 07:00');
    expect(formatHalfHour('2026-03-07', 390, 'local')).toBe('01:30 UTC−5–03:00 UTC−4');
  });

  it.each([
    ['America/New_York', '2026-11-01'],
    ['America/New_York', '2026-03-08'],
    ['Europe/London', '2026-10-25'],
    ['Atlantic/Azores', '2026-10-25'],
    ['Australia/Lord_Howe', '2026-04-05'],
    ['Pacific/Chatham', '2026-04-05'],
    ['Africa/Casablanca', '2026-02-15'],
    ['Asia/Kathmandu', '2026-11-01'],
  ])('of days around %s, %s have different names, with the times of a clock there', (timeZone, change) => {
    useTimeZone(timeZone);
    const clock = new Intl.DateTimeFormat('en-GB', { timeZone, timeStyle: 'short' });
    const names = new Set<string>();
    for (const day of [-2, -1, 0, 1]) {
      const noonMs = Date.parse(`${change}T12:00:00Z`) + day * 86_400_000;
      const date = new Date(noonMs).toISOString().slice(0, 10);
      for (let startMs = noonMs; startMs < noonMs + 86_400_000; startMs += 1_800_000) {
        const name = formatDayAndHalfHour(date, (startMs / 60_000) % 1_440, 'local');
        expect(name.match(/(?<![+−\d])\d\d:\d\d(?= |–)/g)).toEqual([
          clock.format(startMs),
          clock.format(startMs + 1_800_000),
        ]);
        names.add(name);
      }
    }
    expect(names.size).toBe(4 * 48);
  });

  it('have no hours above them that are wrong for some rows', () => {
    useTimeZone('America/New_York');
    const day = (date: string) => ({
      date,
      coverage: { expectedRoundCount: 144, observedRoundCount: 144, coverageBps: 10_000 },
      observedWorkUnits: '1',
      distanceMm: null,
      buckets: [],
    });
    const listTicks = (...dates: string[]) => {
      const { html } = render(HeatMap, { days: dates.map(day) }, { zone: 'local' });
      const texts = [...html.matchAll(/<text [^>]*>([^<]*)/g)].map(([, text]) => text);
      return `${/Half hours, (?:UTC|local)/.exec(html)?.[0]}: ${texts.join(' ')}`;
    };
    expect(listTicks('2026-10-29', '2026-10-30')).toBe('Half hours, local: 08 12 16 20 00 04 08');
    expect(listTicks('2026-11-01', '2026-11-02')).toBe('Half hours, local: 07 11 15 19 23 03 07');
    expect(listTicks('2026-10-30', '2026-10-31')).toBe('Half hours, UTC: 12 UTC 16 20 00 04 08 12');
    expect(listTicks('2026-10-30', '2026-11-02')).toBe('Half hours, UTC: 12 UTC 16 20 00 04 08 12');
  });

  it('are busiest at an hour of the chosen zone, but of UTC if clocks are changed within the days', () => {
    useTimeZone('America/New_York');
    const { activity, ...rest } = recorded.bodies.Statistics.answer;
    const [like] = activity.days;
    const name = (peakWindowStartMinuteUtc: number, ...dates: string[]) => {
      const days = dates.map((date) => ({ ...like, date }));
      const summary = { ...activity.summary, peakWindowStartMinuteUtc };
      const body = { ...rest, activity: { ...activity, days, summary } };
      const read = (_: string, path: string) =>
        ({ body: path === statisticsPath('7d') ? body : null, problem: null }) as never;
      const page = { actions: null, zone: 'local', read, settings: {} } as unknown as Partial<Page>;
      const { html } = render(StatisticsView, { range: '7d' as const }, page);
      return html
        .match(/(?<=Busiest half hour<\/span><span class="value">).*?(?=<\/span>)/)?.[0]
        .replace(/<.*>\s/, ' ');
    };
    expect(name(330, '2026-10-29', '2026-10-30')).toBe('01:30 local');
    expect(name(330, '2026-10-30', '2026-10-31')).toBe('05:30 UTC');
    expect(name(390, '2026-10-30', '2026-10-31')).toBe('06:30 UTC');
    expect(name(390, '2026-11-01', '2026-11-02')).toBe('01:30 local');
  });

  it('are darker the more work they hold, and hatched, marked or empty where that is not known', () => {
    expect([0, 1, 20, 21, 99, 100, 101].map((work) => classifyWork(work, 100)).join(' ')).toBe(
      'zero heat-1 heat-1 heat-2 heat-5 heat-5 heat-5',
    );
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
    const { html, elements, listAttributes } = render(HeatMap, { days });
    const preventDefault = vi.fn();
    elements.input?.[0]?.onKeyDown?.({ key: 'ArrowDown', preventDefault });
    expect(preventDefault).toHaveBeenCalled();
    expect(html.match(/<path [^>]*>/g)).toEqual([
      '<path class="heat-5" d="M0.5 1h9v18h-9z">',
      '<path class="zero" d="M0.5 15h9v4h-9z">',
      '<path class="future" d="M14 10h2">',
      '<path class="heat-1" d="M20.5 1h9v18h-9z">',
      '<path class="partial-corner" d="M29.5 1h-5l5 9z">',
      '<path class="missing" d="M30.5 1h9v18h-9z" fill="url(#hatching)">',
    ]);
    expect(listAttributes('tr', 'id')).toEqual(['2026-11-23', '2026-11-22']);
    expect(listAttributes('svg', 'aria-label')).toEqual([
      '23 Nov: 10 work units observed, 50 % of its rounds',
      '22 Nov: 1,000 work units observed, 50 % of its rounds',
    ]);
    expect(listAttributes('input', 'max')).toEqual(['95']);
    expect(listAttributes('input', 'aria-valuetext')).toEqual([
      '23 Nov, 12:00–12:30 UTC: 50 work units, complete',
    ]);
  });
});

it('days of settlements are named once each, also where clocks are put back at midnight', () => {
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
  const read = (name: string) =>
    ({ body: name === 'settlements' ? { ...history, buckets } : null, problem: null }) as never;
  const page = { actions: null, zone: 'local', read, settings: {} } as unknown as Partial<Page>;
  const { html } = render(Settlements, { range: '7d' as const }, page);
  const labels = [...html.matchAll(/<text [^>]*>(\d+ Oct)/g)].map(([, text]) => text);
  expect(labels).toEqual([22, 23, 24, 25, 26, 27, 28].map((day) => `${day} Oct`));
});

it('a year is a column for each week, from Monday to Sunday, named where a month begins', () => {
  const day = (date: string, work: number, observed = 144, expected = 144) => ({
    date,
    coverage: { expectedRoundCount: expected, observedRoundCount: observed, coverageBps: 10_000 },
    observedWorkUnits: `${work}`,
    distanceMm: null,
  });
  const days = [
    day('2026-10-31', 100), // A Saturday.
    day('2026-11-01', 20),
    day('2026-11-02', 0),
    day('2026-11-03', 0, 0),
    day('2026-11-04', 0, 0, 0),
  ];
  const read = () => ({ body: { days }, problem: null }) as never;
  const { html, elements } = render(Year, {}, { read });
  expect(html.match(/<path class="(?:heat|zero|missing|future)[^>]* d="M\d+ \d+h9v9h-9z"[^>]*>/g)).toEqual([
    '<path class="heat-5" d="M0 64h9v9h-9z">',
    '<path class="heat-1" d="M0 74h9v9h-9z">',
    '<path class="zero" d="M10 14h9v9h-9z">',
    '<path class="missing" d="M10 24h9v9h-9z" fill="url(#hatching)">',
    '<path class="future" d="M10 34h9v9h-9z">',
  ]);
  expect(html.match(/<text[^<]*/g)).toEqual(['<text x="0" y="9">Nov']);
  expect(elements.input?.[0]).toMatchObject({
    max: 4,
    'aria-valuetext': '31 Oct 2026: 100 work units, 100 % observed',
  });
});

describe('a chart', () => {
  it('has columns up to its largest value, a line for an observed zero, and nothing for what is unknown or to come', () => {
    const marks = (
      [
        ['a', 10, 'complete', 5],
        ['b', 0, 'complete', 20],
        ['c', null, 'missing', null],
        ['d', 3, 'future', 5],
      ] as const
    ).map(([key, value, state, reference]) => ({ key, value, state, text: key, reference }));
    const { html, listAttributes } = render(Columns, {
      label: 'Work',
      marks,
      ticks: [],
      formatValue: String,
    });
    expect(html.match(/<rect [^>]*>/g)).toEqual([
      '<rect class="column complete" x="1" y="50" width="8" height="50">',
      '<rect class="zero complete" x="11" y="97.5" width="8" height="2.5">',
      '<rect class="missing" x="21" y="0" width="8" height="100" fill="url(#hatching)">',
    ]);
    expect(html.match(/<path class="reference"[^>]*>/g)).toEqual([
      '<path class="reference" d="M0 75.0h10V0.0h10M30 75.0h10">',
    ]);
    expect(listAttributes('input', 'max')).toEqual(['3']);
  });

  it('has a line with a gap where a value is unknown, and hollow points for days that are not complete', () => {
    const points = [0, 10, null, 5, 5, 5].map((value, index) => {
      const key = 'abcdef'.charAt(index);
      return { key, value, isComplete: index !== 1, text: key, tick: key };
    });
    const { html } = render(Line, { label: 'Work', points, formatValue: String });
    expect(html.match(/<path class="(?:line|dot)[^>]*>/g)).toEqual([
      '<path class="line" d="M5,96L15,6M35,51L45,51L55,51">',
      '<path class="dot" d="M5 96h0">',
      '<path class="dot" d="M15 6h0">',
      '<path class="dot hollow" d="M15 6h0">',
      '<path class="dot" d="M35 51h0">',
      '<path class="dot" d="M45 51h0">',
      '<path class="dot" d="M55 51h0">',
    ]);
    // Every second one: there is room for five.
    expect([...html.matchAll(/>([a-f])<\/text>/g)].map(([, text]) => text)).toEqual(['a', 'c', 'e']);
    const nothing = render(Line, { label: 'Work', points: points.slice(2, 3), formatValue: String });
    expect(nothing.html).toContain('Nothing was observed');
  });

  it('has a scale of round values', () => {
    const scale = createLinearScale([0, 97], [100, 0], 3);
    expect([scale.ticks, scale(0), scale(50), scale(100)]).toEqual([[0, 50, 100], 100, 50, 0]);
  });
});

it.each([
  [0, 'resting', ''],
  [1_000, 'turning', 'turn-1'],
  [5_000, 'turning', 'turn-1'],
  [6_000, 'turning', 'turn-2'],
  [30_000, 'turning', 'turn-5'],
  [60_000, 'turning', 'turn-7'],
  [90_000, 'turning', 'turn-7'],
  [30_000, 'stale', ''],
] as const)(
  'at %i thousandths of a turn per minute a wheel that is %s is drawn as "%s"',
  (rpmMilli, state, speed) => {
    expect(render(Wheel, { state, rpmMilli }).html).toContain(`class="rotor ${speed}"`);
  },
);

it('further pages are read by a button, with the cursor, and are data without script', () => {
  const loadMore = vi.fn();
  const more = { path: '/list?a=1', cursor: 'next', text: 'More' };
  render(More, more, { actions: { loadMore } as never }).elements.button?.[0]?.onClick?.();
  expect(loadMore.mock.calls).toEqual([['/list?a=1', 'next']]);
  const findLink = (path: string) =>
    render(More, { ...more, path }, { actions: null }).listAttributes('a', 'href');
  expect(findLink(more.path)).toEqual(['/list?a=1&amp;cursor=next']);
  expect(findLink('/list')).toEqual(['/list?cursor=next']);
  expect(render(More, { ...more, cursor: null }).html).toBe('');
});

it('a table is a file of its values, quoted where they need it, and empty where they are unknown', () => {
  const download = vi.fn();
  const table = {
    caption: 'Days',
    fileName: 'days.csv',
    rows: [['a,"b"\n', '1234'] as const, ['c', null] as const],
    columns: [
      { name: 'day', value: ([day]: readonly [string, string | null]) => day, isText: true },
      { name: 'work, in units', value: ([, work]: readonly [string, string | null]) => work },
    ],
  };
  const { elements } = render(DataTable, table, { actions: { download } as never });
  elements.button?.[0]?.onClick?.();
  const csv = 'day,"work, in units"\r\n"a,""b""\n",1234\r\nc,\r\n';
  expect(download.mock.calls).toEqual([['days.csv', 'text/csv;charset=utf-8', csv]]);
  const { html } = render(DataTable, table, { actions: null });
  const cells = [...html.matchAll(/<td[^>]*>([^<]*)/g)].map(([, cell]) => cell);
  expect(cells).toEqual(['a,&quot;b&quot;\n', '1,234', 'c', 'unknown']);
  const rows = Array.from({ length: 301 }, () => table.rows[1] as readonly [string, null]);
  expect(render(DataTable, { ...table, rows }, { actions: null }).html).toContain('It has 301 rows');
  expect(render(DataTable, { ...table, rows: rows.slice(1) }, { actions: null }).html).not.toContain('rows,');
});
