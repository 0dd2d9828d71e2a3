import { owners } from '../chain/contracts/settings.ts';

const chainPaths = [
  '/v1/core',
  '/v1/mining/state',
  '/v2/public/miners/state',
  '/v1/settlements?range=now',
  '/v1/settlements?range=24h',
  '/v1/settlements?range=30d',
  '/v1/miners/1/metadata',
  '/v1/miners/2/metadata',
  '/v1/miners/7/metadata',
];

/** What all processes answer in the same way, whenever they are asked in a calm time. */
export const comparedPaths = [
  '/v1/public/telemetry',
  '/v1/public/installations/wheel:two/telemetry',
  '/v1/public/installations/wheel-three/telemetry',
  '/v1/public/modules',
  '/v1/status',
  '/v4/public/process',
  '/v4/public/settlements?queue=1',
  '/v2/public/stats?range=7d',
  '/v1/measurement/stats?range=30d',
  ...chainPaths,
];

/** Lists that are read page by page. */
export const comparedLists = [
  '/v1/public/installations/wheel.one/observations',
  '/v1/public/installations/wheel-three/observations',
  '/v1/events',
  ...owners.flatMap((owner) => [
    `/v1/owners/${owner}/miners?limit=20`,
    `/v1/owners/${owner}/activity?limit=20`,
  ]),
];

/** What the chain alone decides. */
export const honestPaths = [
  ...chainPaths,
  ...owners.flatMap((owner) => [
    `/v1/owners/${owner}/miners?limit=100`,
    `/v1/owners/${owner}/activity?limit=100`,
  ]),
];
