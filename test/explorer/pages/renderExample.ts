import type { Place } from '../../../http/addresses/place.ts';
import type { PageChain, PageRequest } from '../../../http/explorer/page.ts';
import { renderPage } from '../../../http/explorer/renderPage.tsx';
import { toReadBody } from '../../../http/explorer/resources.ts';
import recorded from '../../../http/routes/documentation/examples.json' with { type: 'json' };

const { bodies } = recorded;
const { activity } = bodies.Statistics.answer;
export const exampleChain: PageChain = { target: 'mainnet', reason: null, lastKnown: null };
export const exampleBodies: Readonly<Record<string, unknown>> = {
  '/v1/status': bodies.Status.answer,
  '/v1/core': bodies.CoreState.answer,
  '/v1/mining/state': bodies.MiningState.answer,
  '/v1/measurement/stats': bodies.Statistics.answer,
  '/v1/settlements': bodies.SettlementHistory.answer,
  '/v1/events': bodies.EventFeed.answer,
};

const month = Array.from({ length: 23 }, (_, index) => ({
  ...(activity.days[0] as (typeof activity.days)[number]),
  date: new Date(Date.parse(activity.days[0]?.date ?? '') - (23 - index) * 86_400_000)
    .toISOString()
    .slice(0, 10),
}));
const daysOfMonth = [...month, ...activity.days];

/** Renders a page with the examples, or other bodies by path. */
export function renderExample(
  place: Place,
  bodiesByPath: Readonly<Record<string, unknown>> = {},
  change: Partial<PageRequest> = {},
) {
  const known = { ...exampleBodies, ...bodiesByPath };
  const read = (path: string) => {
    const [name = ''] = path.split('?');
    if (path.endsWith('range=30d') && name.endsWith('stats'))
      return { ...bodies.Statistics.answer, range: '30d', activity: { ...activity, days: daysOfMonth } };
    const [, date] = /^\/v1\/days\/(.*)/.exec(name) ?? [];
    if (date === undefined) return known[name];
    return { ...bodies.Day.answer, date, day: daysOfMonth.find((day) => day.date === date) ?? null };
  };
  const { html } = renderPage({
    place,
    nowMs: Date.parse(bodies.Status.answer.generatedAt),
    settings: { transactionUrl: null, publicUrl: 'https://wheel.example', files: {} },
    chain: exampleChain,
    old: new Map(),
    read: toReadBody(read),
    ...change,
  });
  const text = html
    .replace(/<(dialog|noscript).*?<\/\1>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
  const findMeta = (name: string) =>
    new RegExp(`<meta (?:name|property)="${name}" content="([^"]*)"`).exec(html)?.[1] ?? '';
  return { html, text, findMeta };
}
