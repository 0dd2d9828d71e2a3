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
  '/v1/core',
  '/v1/settlements?range=24h',
  '/v1/rounds?limit=100',
  '/v1/days/2026-01-31',
  '/v1/search?q=yesterday',
];

/** Every route, in each of its forms; lists are read page by page. A name in braces is a member of an event, of the newest and the oldest one of each type. */
export const comparedPaths = [
  ...clockPaths,
  '/v1/public/modules',
  '/v1/mining/state',
  '/v2/public/miners/state',
  '/v1/settlements?range=now',
  '/v4/public/settlements?range=7d',
  '/v1/settlements?range=30d',
  // These have no quantities, and only have to answer.
  '/v1/miners/1/metadata',
  '/v2/public/miners/metadata/2?release=release-1',
  '/v1/search?q=7',
  '/v1/public/installations/wheel.one/observations?limit=100',
  '/v1/public/installations/wheel:two/observations?limit=100',
  '/v1/public/installations/wheel-three/observations?limit=100',
  '/v1/events?limit=100',
  '/v2/public/events?category=players&limit=100',
  '/v1/events/{id}',
  '/v1/transactions/{transactionHash}',
  `/v1/transactions/0x${'0'.repeat(64)}`,
  '/v1/rounds/1',
  '/v1/rounds/{previousSettledThroughRound}',
  '/v1/rounds/{settledThroughRound}',
  '/v1/rounds/{throughRound}',
  '/v1/rounds/100000',
  '/v1/rounds?limit=5&from=2026-01-31T12:10:00Z&to=2026-01-31T15:00:00Z',
  '/v1/batches?limit=100',
  '/v1/checkpoints?limit=7',
  '/v1/miners/{tokenId}',
  '/v1/miners/{survivorTokenId}',
  '/v1/miners/{donorTokenId}',
  '/v1/miners/9999',
  '/v1/miners?limit=5',
  '/v1/owners?limit=2',
  '/v1/days/2026-01-30',
  '/v1/days/2026-02-01',
  '/v1/days/2026-02-02',
  '/v1/days/2025-06-01',
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
