import { type ChainActors, createChainActors } from '../../actors/chain/chainActors.ts';
import { listRowTables } from '../../storage/rowTables.ts';
import { ownerActivity } from '../../storage/tables/ownerActivity.ts';
import type { StreamDefinition } from '../follower/streamDefinition.ts';
import { registerChainMetrics } from '../metrics/chainMetrics.ts';
import { createChainFold } from './chainFold.ts';

/** The same columns in every table of the chain. */
const origin = ownerActivity.select('storedBy', 'storedAtMs');

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
  // Of each table; its rows name the message that stored them, and the time at which the stream stored that message.
  readRowOrigins: async (database, tables) => {
    const newest = await Promise.all(
      listRowTables(tables, 'MINER_CHAIN').map((table) =>
        database.select(
          `SELECT ${origin.list} FROM ${table} WHERE stored_by = (SELECT max(stored_by) FROM ${table}) LIMIT 1`,
        ),
      ),
    );
    return newest
      .flat()
      .map(origin.read)
      .map(({ storedBy, storedAtMs }) => ({
        position: storedBy,
        isMessage: ({ time }) => time.getTime() === storedAtMs,
      }));
  },
};
