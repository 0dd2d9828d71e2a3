import { assign, fromEventObservable, fromPromise, not, or, setup, stateIn } from 'xstate';
import { type BackoffBounds, backoffDelay } from './backoff.ts';
import { notProvided } from './notProvided.ts';

export const indexerStates = [
  'connecting',
  'catchingUp',
  'following',
  'reorganizing',
  'lagging',
  'failing',
  'unpublishable',
  'stopping',
  'stopped',
] as const;
export type IndexerState = (typeof indexerStates)[number];

/** The newest blocks are published one per span, so that the safe block's hash and time are known (MESSAGES.md, Chain span). */
export const singleBlocks = 64n;

export interface IndexerTimings {
  /** Between two polls of a node that has nothing new. */
  readonly pollMs: number;
  /** Before the timelock's logs from before the first block are requested again. */
  readonly readsRetryMs: number;
  /** Between two attempts near the tip, where views become stale in the meantime: five seconds at most, */
  readonly nearBackoff: BackoffBounds;
  /** and far behind it, to let a provider recover: half a minute at most. */
  readonly farBackoff: BackoffBounds;
}

export const defaultIndexerTimings: IndexerTimings = {
  pollMs: 1_000,
  readsRetryMs: 60_000,
  nearBackoff: { firstMs: 500, longestMs: 4_000 },
  farBackoff: { firstMs: 500, longestMs: 24_000 },
};

/** What an indexer that has failed waits for. */
export type AwaitedPart = 'NATS' | 'the node' | 'a setting or another version';

export interface Comparison {
  /** Last published block; null before the first. */
  readonly head: bigint | null;
  readonly tip: bigint;
  /** The node's block after the last published one has another parent. */
  readonly isFork: boolean;
}

export interface HeadMoved {
  readonly type: 'headMoved';
  readonly head: bigint;
}

interface Context {
  readonly timings: IndexerTimings;
  readonly firstBlock: bigint;
  /** Last published block; null before the first. */
  readonly head: bigint | null;
  /** The node's newest block as last seen; null before it was. */
  readonly tip: bigint | null;
  /** The next block of the node is of another branch than what is published. */
  readonly isFork: boolean;
  /** The node's newest block when the indexer was found far behind it, until that block is published; null otherwise. */
  readonly catchesUpTo: bigint | null;
  readonly failures: number;
  /** Why the last of them did. */
  readonly error: unknown;
  /** Null unless the last attempt failed. */
  readonly waitingFor: AwaitedPart | null;
  readonly reorganizations: number;
  readonly providerFailures: number;
  readonly lostRaces: number;
}

/** Whether spans of many blocks are published next. What is not known to be far behind the tip is near it. */
function isFarBehind({ firstBlock, head, tip }: Context): boolean {
  const next = head === null ? firstBlock : head + 1n;
  return tip !== null && tip - next >= singleBlocks;
}

/** What the machine of the indexer consists of; `indexerMachine.ts` says what follows what. */
export const indexer = setup({
  types: {} as {
    context: Context;
    input: { readonly firstBlock: bigint; readonly timings: IndexerTimings };
    events:
      | HeadMoved
      /** The contents of the stream are known. */
      | { type: 'resumed' }
      | { type: 'stopped' };
  },
  actors: {
    /** Resolves when the node is of the deployment's chain. */
    askNode: fromPromise<void>(notProvided),
    /** Reads what the stream holds, and resolves with the last published block. */
    resume: fromPromise<bigint | null>(notProvided),
    /** Publishes what the timelock logged before the first block. */
    publishReads: fromPromise<void>(notProvided),
    compare: fromPromise<Comparison>(notProvided),
    /** Publishes from the compared block on: spans of many blocks up to the single ones, */
    publishRanges: fromEventObservable<HeadMoved, undefined>(notProvided),
    /** and what is left then, or what the comparison found where it is near, block by block. */
    publishBlocks: fromEventObservable<HeadMoved, undefined>(notProvided),
    /** Proves the node's branch, and resolves with the last block that it shares with what is published. */
    proveBranch: fromPromise<bigint>(notProvided),
    publishBranch: fromEventObservable<HeadMoved, undefined>(notProvided),
    /** Resolves when nothing that was cancelled is still being published. */
    awaitIdle: fromPromise<void>(notProvided),
    /** Resolves when the connection to NATS is established again. */
    awaitReconnection: fromPromise<void>(notProvided),
  },
  guards: {
    /** The node lags, restarted or syncs. */
    isNodeBehind: ({ context: { head, tip } }) => head !== null && tip !== null && tip < head,
    isBeforeFirstBlock: ({ context: { head, tip, firstBlock } }) =>
      head === null && tip !== null && tip < firstBlock,
    /** Another block of the same height is not a longer chain, so nothing is replaced for it. */
    isAtTip: ({ context: { head, tip } }) => head === tip,
    isFork: ({ context }) => context.isFork,
    isFarBehind: ({ context }) => isFarBehind(context),
    /** The first block of a chain, the genesis, has no logs. */
    hasEarlierLogs: ({ context }) => context.firstBlock > 1n,
    areReadsAsked: not(or([stateIn({ reads: 'unasked' }), stateIn({ reads: 'asking' })])),
    isLostRace: (_, _params: { error: unknown }): boolean => notProvided(),
    /** NATS has failed, and not the node. */
    isStreamFailure: (_, _params: { error: unknown }): boolean => notProvided(),
    /** What comes next would be refused by NATS for its size, or by the fold. */
    isUnpublishable: (_, _params: { error: unknown }): boolean => notProvided(),
  },
  actions: {
    /** Tells whoever provides the work which actor does it. */
    noteStarted: notProvided,
    noteSuccess: assign({ failures: 0, waitingFor: null }),
    noteComparison: assign(({ context }, { head, tip, isFork }: Comparison) => {
      const { catchesUpTo } = context;
      const isDone = catchesUpTo === null || (head !== null && head >= catchesUpTo);
      return { head, tip, isFork, catchesUpTo: isDone ? null : catchesUpTo };
    }),
    noteFailure: assign(
      ({ context }, { error, waitingFor }: { error: unknown; waitingFor: AwaitedPart }) => ({
        error,
        waitingFor,
        failures: context.failures + 1,
      }),
    ),
    countLostRace: assign({ lostRaces: ({ context }) => context.lostRaces + 1 }),
    countProviderFailure: assign({ providerFailures: ({ context }) => context.providerFailures + 1 }),
  },
  delays: {
    /** Nothing changes by itself. */
    longBackoff: ({ context }) => backoffDelay(context.timings.farBackoff)({ context }),
    poll: ({ context }) => context.timings.pollMs,
    readsRetry: ({ context }) => context.timings.readsRetryMs,
    backoff: ({ context }) => {
      const { nearBackoff, farBackoff } = context.timings;
      return backoffDelay(isFarBehind(context) ? farBackoff : nearBackoff)({ context });
    },
  },
});
