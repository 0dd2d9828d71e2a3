import { type ChainActors, createChainActors } from '../../actors/chain/chainActors.ts';
import { decodeChain, decodeChainReads } from '../../actors/chain/spans/decodeChain.ts';
import { registerChainMetrics } from '../metrics/chainMetrics.ts';
import { createChainFold } from './chainFold.ts';
import { findRejection, refill, type StreamDefinition } from './streamDefinition.ts';

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
  judgeContent:
    () =>
    ({ subject, data }) =>
      findRejection(decodeChainReads(subject, data) ?? decodeChain(subject, data)),
  remedyFrom: () => refill,
};
