import { owners } from '../chain/contracts/settings.ts';

/** Routes whose answers change with the clock alone. */
export const clockPaths = [
  '/v1/public/telemetry',
  '/v1/public/installations/wheel:two/telemetry',
  '/v1/public/installations/wheel-three/telemetry',
  '/v1/status',
  '/v4/public/process',
  '/v4/public/settlements?queue=1',
  '/v2/public/stats?range=7d',
  '/v1/measurement/stats?range=30d',
  '/v1/measurement/year',
  '/v1/core',
  '/v1/settlements?range=24h',
];

/** Every route, in each of its forms; lists are read page by page. */
export const comparedPaths = [
  ...clockPaths,
  '/v1/public/modules',
  '/v1/mining/state',
  '/v2/public/miners/state',
  '/v1/settlements?range=now',
  '/v4/public/settlements?range=7d',
  '/v1/settlements?range=30d',
  '/v1/miners/1/metadata',
  '/v1/miners/2/metadata',
  '/v1/miners/7/metadata',
  '/v2/public/miners/metadata/2?release=release-1',
  '/v1/public/installations/wheel.one/observations?limit=100',
  '/v1/public/installations/wheel:two/observations?limit=100',
  '/v1/public/installations/wheel-three/observations?limit=100',
  '/v1/events?limit=100',
  '/v2/public/events?category=players&limit=100',
  ...owners.flatMap((owner, index) =>
    // Both routes read the same view.
    index % 2 === 0
      ? [`/v1/owners/${owner}/miners?limit=20`, `/v1/owners/${owner}/activity?limit=20`]
      : [
          `/v2/public/miners/portfolio?owner=${owner}&limit=20`,
          `/v2/public/miners/activity?owner=${owner}&limit=20`,
        ],
  ),
];
