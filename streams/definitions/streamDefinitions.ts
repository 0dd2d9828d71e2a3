import type { ChainActors } from '../../actors/chain/chainActors.ts';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import type { SettlementActors } from '../../actors/settlement/settlementActors.ts';
import type { CounterActors } from '../../actors/wheel/counterActors.ts';
import type { StreamFold } from '../pipeline/streamFold.ts';
import { chainStream } from './chainStream.ts';
import { counterStream } from './counterStream.ts';
import { settlementStream } from './settlementStream.ts';
import type { FoldDependencies, FoldedDeployment, StreamDefinition } from './streamDefinition.ts';

export interface StreamActors {
  readonly MINER_COUNTER: CounterActors;
  readonly MINER_PIPELINE: SettlementActors;
  /** Null when no contracts are configured. */
  readonly MINER_CHAIN: ChainActors | null;
}

export const streamDefinitions: {
  readonly [Name in InputStreamName]: StreamDefinition<StreamActors[Name]>;
} = {
  MINER_COUNTER: counterStream,
  MINER_PIPELINE: settlementStream,
  MINER_CHAIN: chainStream,
};

export function createStreamActors(deployment: FoldedDeployment): StreamActors {
  return {
    MINER_COUNTER: counterStream.createActors(deployment),
    MINER_PIPELINE: settlementStream.createActors(deployment),
    MINER_CHAIN: chainStream.createActors(deployment),
  };
}

/** The fold of a stream; null if the deployment has none of its messages. */
export function createStreamFold<Name extends InputStreamName>(
  stream: Name,
  actors: StreamActors,
  dependencies: FoldDependencies,
): StreamFold | null {
  const own: StreamActors[Name] = actors[stream];
  return own == null ? null : streamDefinitions[stream].createFold(own, dependencies);
}

export function listFolds(actors: StreamActors): [InputStreamName, FoldIdentity][] {
  return inputStreamNames.flatMap((stream) => {
    const own = actors[stream];
    return own === null ? [] : [[stream, own.identity] satisfies [InputStreamName, FoldIdentity]];
  });
}
