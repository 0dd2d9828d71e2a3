import type { ServiceProcess } from '../processes/simulatedService.ts';
import { SimulationFailure } from './failure.ts';

/** No process has taken a stream for another one. To be called only if no stream has lost messages so far. */
export async function checkDivergences(processes: readonly ServiceProcess[]): Promise<void> {
  for (const { name, metrics } of processes)
    for (const [metric, count] of await metrics())
      if (metric.startsWith('miner_stream_divergences_total') && count > 0)
        throw new SimulationFailure('divergences', `${name}: ${metric} is ${count}`);
}
