import type { StatisticsRange } from '../../actors/statistics/statistics.ts';
import type { ActorViews } from '../../actors/views/actorViews.ts';
import { findEventsOfTime } from '../../actors/views/feed/feedRecords.ts';
import type { StatisticsViews } from '../../actors/views/statisticsViews.ts';
import { findDaySpan } from '../addresses/days.ts';
import { dayPath } from '../addresses/recordPaths.ts';
import { dayResponse, toDayBody } from '../responses/records/day.ts';
import {
  plainStatisticsResponse,
  publicStatisticsResponse,
  statisticsRange,
  toStatisticsBody,
} from '../responses/statistics/statistics.ts';
import { noCache, revalidated } from './cacheControl.ts';
import { defineRoute, type Parameters, type Route } from './route.ts';

const members = {
  topic: 'statistics',
  rateClass: 'publicHeavy',
  cacheControl: revalidated,
  refusal: ({ statistics }: ActorViews) => (statistics === null ? 'public_stats_rebuilding' : null),
  tag: ({ revision }: { readonly revision: string }) => revision,
  isConditional: true,
  summary: 'Statistics over 7 or 30 universal days',
  query: [{ name: 'range', description: 'Time window', schema: statisticsRange, isRequired: true }],
  errors: ['invalid_query', 'public_stats_rebuilding'],
} as const;

/** The schema has checked it. */
const readRange = (parameters: Parameters) => parameters.get('range') as StatisticsRange;

/** Called only if `refusal` is null. */
function expectStatistics({ statistics }: ActorViews): StatisticsViews {
  if (statistics === null) throw new Error('statistics were requested during their rebuild');
  return statistics;
}

const publicStatistics = defineRoute({
  ...members,
  path: '/v2/public/stats',
  operationId: 'getPublicStatistics',
  view: (views, _path, parameters) => expectStatistics(views).publicView(readRange(parameters)),
  response: publicStatisticsResponse,
  body: (view) => toStatisticsBody(2, view),
});

const statistics = defineRoute({
  ...members,
  path: '/v1/measurement/stats',
  operationId: 'getStatistics',
  view: (views, _path, parameters) => expectStatistics(views).plainView(readRange(parameters)),
  response: plainStatisticsResponse,
  body: (view) => toStatisticsBody(1, view),
});

const day = defineRoute({
  path: '/v1/days/{date}',
  operationId: 'getDay',
  summary: 'One universal day, with its half hours, and what the wheel reached on it',
  topic: 'statistics',
  rateClass: 'publicHeavy',
  pathParameter: dayPath,
  query: 'none',
  cacheControl: noCache,
  errors: ['invalid_path', 'invalid_query', 'public_stats_rebuilding'],
  response: dayResponse,
  read: async ({ views }, { pathValue: date, signal }) => {
    const { statistics: shown, publicInstallationId: installationId, feed } = views;
    if (shown === null) return { error: 'public_stats_rebuilding' };
    const [startAtMs, endAtMs] = findDaySpan(date);
    const [known, found] = await Promise.all([
      shown.day(startAtMs, signal),
      findEventsOfTime(feed, [startAtMs, endAtMs], signal),
    ]);
    const view = { installationId, date, startAtMs, endAtMs, day: known, found };
    return { body: toDayBody(view) };
  },
});

export const statisticsRoutes: readonly Route[] = [publicStatistics, statistics, day];
