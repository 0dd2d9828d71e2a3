import { createClientCounts as createRealCounts } from '../../../http/server/limits/clientCounts.ts';
import { currentWorld } from '../world/currentWorld.ts';
import { changeHeld } from '../world/held.ts';

/** Client counts that also note requests of unlimited addresses. */
export function createClientCounts(...limits: Parameters<typeof createRealCounts>) {
  const counts = createRealCounts(...limits);
  const { domain } = currentWorld().time;
  return {
    ...counts,
    change: (...[address, by]: Parameters<typeof counts.change>) => {
      changeHeld(domain, 'requests and streams of clients', by);
      counts.change(address, by);
    },
  };
}
