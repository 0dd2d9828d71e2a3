import { type ChainActors, createChainActors } from '../../actors/chain/chainActors.ts';
import { readNewestChainRows } from '../../storage/newestChainRows.ts';
import type { StreamDefinition } from '../follower/streamDefinition.ts';
import { registerChainMetrics } from '../metrics/chainMetrics.ts';
import { createChainFold } from './chainFold.ts';

/** `MINER_CHAIN`: spans become states at safe blocks. */
export const chainStream: StreamDefinition<ChainActors | null> = {
  createActors: ({ onChain }) => {
    if (onChain === null) return null;
    const { chainId, deploymentBlock } = onChain.chain;
    return createChainActors({ chainId, contracts: onChain.contracts, deploymentBlock });
  },
  createFold: (actors, dependencies) => {
    const chainCounts = registerChainMetrics(dependencies.registry, actors);
    return createChainFold({ ...dependencies, actors, chainCounts });
  },
  // A row of the chain holds its message's sequence and storage time.
  readRowOrigins: async (database, tables) => {
    const newest = await readNewestChainRows(database, tables);
    return newest.map(({ storedBy, storedAtMs }) => ({
      position: storedBy,
      isMessage: ({ time }) => time.getTime() === storedAtMs,
    }));
  },
  deleteCutOffRows: null,
};
