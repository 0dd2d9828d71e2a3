import type { Readiness } from '../../actors/views/views.ts';
import type { IndexerState } from '../../machines/indexerMachine.ts';
import type { IndexerStatus } from '../indexer/indexer.ts';

/** Awaited in a state without a failure: a step that has not been answered is no failure yet. */
const awaitedIn: Record<Exclude<IndexerState, 'following'>, string> = {
  connecting: 'the node',
  catchingUp: 'the newest block',
  reorganizing: 'the newest block',
  lagging: 'the node',
  failing: 'the node',
  unpublishable: 'a setting or another version',
  stopping: 'the end of this process',
  stopped: 'the end of this process',
};

/** Determines whether the blocks of a node are published as they come. Otherwise the result names what the indexer waits for. */
export function describeIndexer({ state, head, tip, waitingFor, problem }: IndexerStatus): Readiness {
  const isReady = state === 'following';
  return {
    isReady,
    detail: {
      waitingFor: isReady ? [] : [waitingFor ?? awaitedIn[state]],
      problem,
      state,
      head: head?.toString() ?? null,
      tip: tip?.toString() ?? null,
    },
  };
}
