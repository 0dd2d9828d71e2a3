import type { EthereumChain } from '../chain/ethereumNode.ts';
import type { ServiceProcess } from '../processes/serviceProcess.ts';
import { SimulationFailure } from './failure.ts';
import { observeSafeBlocks } from './safeBlockObserver.ts';

/** A process that has indexed everything shows the block that the newest one confirms for the twelfth time, and what the contracts hold there. */
export async function checkChain(process: ServiceProcess, chain: EthereumChain): Promise<void> {
  const observer = observeSafeBlocks(chain);
  const safe = chain.tip.number - 11n;
  for (const path of ['/v1/core', '/v1/mining/state']) {
    const response = await process.get(path);
    const shown = response === null ? null : observer.findShown(response);
    // Views are shared for some seconds, so this one may be a little older.
    if (response === null || shown === null || shown > safe || shown < safe - sharedBlocks)
      throw new SimulationFailure(
        'safe block',
        `${process.name} ${path} shows block ${shown}, and block ${safe} is safe: ${response?.body}`,
      );
    observer.note(process.name, path, response);
  }
}

/** As many as are mined in fair weather while a view is shared. */
const sharedBlocks = 8n;
