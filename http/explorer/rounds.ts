import type { CoreResponse } from '../responses/chain/core.ts';

/** Length of a round (CONTRACT.md, Time, rounds and days). The genesis is a multiple of it, so rounds start at whole ten minutes. */
export const roundMs = 600_000;
export const halfHourMs = 3 * roundMs;
export const dayMs = 48 * halfHourMs;

/** When the first round begins, in epoch milliseconds; null if that is not known. */
export function findGenesisMs(core: CoreResponse | null): number | null {
  return core?.status === 'available' ? Number(core.configuration.genesisTimestamp) * 1000 : null;
}
