import { fromPromise, type SnapshotFrom } from 'xstate';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import {
  type AwaitedPart,
  defaultIndexerTimings,
  type IndexerState,
  type IndexerTimings,
  indexerMachine,
  indexerStates,
} from '../../machines/indexerMachine.ts';
import type { Member } from '../../machines/serviceMachine.ts';
import { createIndexerWork, type IndexerWorkOptions } from './indexerWork.ts';

export interface IndexerStatus {
  readonly state: IndexerState;
  /** Last published block; null before the first. */
  readonly head: bigint | null;
  /** The node's newest block as last seen; null before the first answer. */
  readonly tip: bigint | null;
  readonly reorganizations: number;
  readonly providerFailures: number;
  /** How often another indexer published first. */
  readonly lostRaces: number;
  /** Why the last attempt failed; null if it did not. */
  readonly waitingFor: AwaitedPart | null;
  readonly problem: string | null;
}

interface IndexerOptions extends Omit<IndexerWorkOptions, 'onPublished'> {
  readonly timings?: IndexerTimings;
  /** Called with the last published and the newest block while catching up. */
  readonly onProgress?: (head: bigint, tip: bigint) => void;
}

type Snapshot = Pick<SnapshotFrom<typeof indexerMachine>, 'context' | 'matches'>;

export type Indexer = ReturnType<typeof createIndexer>;

/** Reads a chain from a node and publishes it as spans, each proven by its headers first. */
export function createIndexer(options: IndexerOptions) {
  const { deploymentBlock, logger, timings = defaultIndexerTimings, publisher, onProgress } = options;
  let actor: { getSnapshot(): Snapshot } | null = null;
  const findHead = () => publisher.published().at(-1)?.number ?? null;
  const work = createIndexerWork({
    ...options,
    onPublished: () => {
      const [head, tip] = [findHead(), actor?.getSnapshot().context.catchesUpTo ?? null];
      if (head !== null && tip !== null) onProgress?.(head, tip);
    },
  });
  const logic = indexerMachine.provide({
    actors: {
      askNode: fromPromise(work.askNode),
      resume: fromPromise(work.resume),
      publishReads: fromPromise(work.publishReads),
      compare: fromPromise(work.compare),
      publishRanges: fromPromise(work.publishRanges),
      publishBlocks: fromPromise(work.publishBlocks),
      proveBranch: fromPromise(work.proveBranch),
      awaitIdle: fromPromise(work.whenIdle),
      awaitReconnection: fromPromise(({ signal }) => work.reconnected(signal)),
    },
    actions: {
      noteStarted: ({ self }) => {
        actor = self;
        let previous: Snapshot = self.getSnapshot();
        self.subscribe({
          next: (snapshot) => {
            report(previous, snapshot);
            previous = snapshot;
          },
          error: () => undefined, // Its supervisor receives it.
        });
      },
    },
  });

  function report(before: Snapshot, now: Snapshot) {
    const { head, tip, failures, error, waitingFor, lostRaces } = now.context;
    if (lostRaces > before.context.lostRaces)
      logger.info({ err: error }, 'the stream is read again before more is published');
    else if (findState(now) === 'unpublishable' && findState(before) !== 'unpublishable')
      logger.error({ err: error }, 'the next span cannot be published, so no further blocks are indexed');
    else if (failures > before.context.failures && waitingFor !== before.context.waitingFor)
      logger.warn({ err: error, waitingFor }, 'nothing can be indexed at the moment; retrying');
    if (failures < before.context.failures)
      logger.info(
        { failures: before.context.failures, waitedFor: before.context.waitingFor },
        'indexing continues',
      );
    if (findState(now) === 'lagging' && findState(before) !== 'lagging')
      logger.warn(
        { nodeTip: String(tip), head: String(head) },
        'the node is behind the published blocks; waiting for it',
      );
  }

  return {
    /** Its machine, for a supervisor. Once stopped, it ends after the publication in progress. It fails only for a fault of this program. */
    member: { logic, input: { firstBlock: deploymentBlock, timings } } satisfies Member,
    status: (): IndexerStatus => {
      if (actor === null) return notStarted;
      const snapshot = actor.getSnapshot();
      const { tip, reorganizations, providerFailures, lostRaces, waitingFor, error } = snapshot.context;
      const problem = waitingFor === null ? null : readErrorMessage(error);
      const counts = { reorganizations, providerFailures, lostRaces };
      return { state: findState(snapshot), head: findHead(), tip, ...counts, waitingFor, problem };
    },
  };
}

export const notStarted: IndexerStatus = {
  state: 'connecting',
  head: null,
  tip: null,
  reorganizations: 0,
  providerFailures: 0,
  lostRaces: 0,
  waitingFor: null,
  problem: null,
};

function findState(snapshot: Snapshot): IndexerState {
  const state = indexerStates.find((one) => snapshot.matches({ blocks: one }));
  // A transient state is left in the step in which it is entered, so it is never observed.
  if (state === undefined) throw new Error('no state of the indexer is active');
  return state;
}
