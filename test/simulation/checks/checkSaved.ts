import type { ServiceProcess } from '../processes/simulatedService.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import { SimulationFailure } from './failure.ts';

/** Checks that processes that end in good order have saved their state. */
export async function checkSaved(
  { clickHouse, nats }: SimulatedWorld,
  processes: readonly ServiceProcess[],
): Promise<void> {
  for (const process of processes) await process.stop();
  const folded = nats.store.streams.get('MINER_COUNTER')?.lastSequence ?? 0;
  const newest = "SELECT max(position) FROM fold_states WHERE stream = 'MINER_COUNTER'";
  const saved = Number(clickHouse.select(newest)[0]?.[0]);
  if (saved < folded)
    throw new SimulationFailure('snapshots', `${folded} messages are folded, and ${saved} are saved`);
}
