import type { SimulatedResponse } from '../world/currentWorld.ts';
import { findDifference, SimulationFailure } from './failure.ts';

interface Page {
  readonly items: readonly { readonly cursor: string; readonly telemetryId: string }[];
  readonly nextCursor: string | null;
}

/** A client that reads an installation's observations page by page, from any process, again and again if it `repeats`. */
export function createWalker(installationId: string, repeats: boolean) {
  let found: string[] = [];
  let walks = [found];
  let cursor: string | null = null;
  let starts = 0;
  return {
    installationId,
    step: async (get: (path: string) => Promise<SimulatedResponse | null>): Promise<void> => {
      const query = cursor === null ? '' : `?cursor=${cursor}`;
      const start = starts;
      const response = await get(`/v1/public/installations/${installationId}/observations${query}`);
      if (response?.status !== 200 || start !== starts) return;
      const page = JSON.parse(response.body.toString('utf8')) as Page;
      found.push(...page.items.map(({ telemetryId }) => telemetryId));
      cursor = page.items.at(-1)?.cursor ?? cursor;
      if (!repeats || page.nextCursor !== null) return;
      found = [];
      walks.push(found);
      cursor = null;
    },
    /** Checks that it has read the accepted readings from the first on. */
    check: (accepted: readonly string[]) => {
      for (const walk of walks) {
        const difference = findDifference(accepted.slice(0, walk.length), walk);
        if (difference !== null)
          throw new SimulationFailure('pages', `a client that walked ${installationId}: ${difference}`);
      }
    },
    restart: () => {
      found = [];
      walks = [found];
      cursor = null;
      starts++;
    },
  };
}
