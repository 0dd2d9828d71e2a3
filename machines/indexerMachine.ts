import { assign, fromPromise, raise, setup } from 'xstate';
import { type BackoffBounds, backoffDelay } from './backoff.ts';
import { type ErrorKind, hasKind, passError, readKind } from './failures.ts';
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
  /** Time between two polls of a node that has nothing new. */
  readonly pollMs: number;
  /** At most five seconds. With the request under way, indexing continues within 15 s. */
  readonly backoff: BackoffBounds;
  /** Time before another attempt at what may need an operator. */
  readonly rareRetryMs: number;
}

export const defaultIndexerTimings: IndexerTimings = {
  pollMs: 1_000,
  backoff: { firstMs: 500, longestMs: 4_000 },
  rareRetryMs: 60_000,
};

export type AwaitedPart = 'NATS' | 'the node' | 'a setting or another version';

/** The part that an error waits for. Any other error waits for the node. */
const awaitedParts: Partial<Record<ErrorKind, AwaitedPart>> = {
  lostRace: 'NATS',
  streamUnavailable: 'NATS',
  unpublishable: 'a setting or another version',
};

export interface Comparison {
  /** Last published block; null if the stream has none. */
  readonly head: bigint | null;
  readonly tip: bigint;
  /** The node's block after the last published one has another parent. */
  readonly isFork: boolean;
}

interface Context {
  readonly timings: IndexerTimings;
  readonly firstBlock: bigint;
  /** Last published block at the last comparison; null if there was none. */
  readonly head: bigint | null;
  /** The node's newest block when last seen; null before the first comparison. */
  readonly tip: bigint | null;
  /** The node's next block belongs to another branch than the published blocks. */
  readonly isFork: boolean;
  /** Set while the indexer catches up: the node's newest block when it was found far behind. Otherwise null. */
  readonly catchesUpTo: bigint | null;
  readonly failures: number;
  readonly error: unknown;
  /** Null unless the last attempt failed. */
  readonly waitingFor: AwaitedPart | null;
  readonly reorganizations: number;
  readonly providerFailures: number;
  readonly lostRaces: number;
  /** Time that a stop leaves for the publication in progress. */
  readonly graceMs: number;
}

const indexer = setup({
  types: {} as {
    context: Context;
    input: { readonly firstBlock: bigint; readonly timings: IndexerTimings };
    events: /** The contents of the stream are known. */
    { type: 'resumed' } | { type: 'stopped'; graceMs: number };
  },
  actors: {
    /** Resolves once the node has confirmed that it serves the deployment's chain. */
    askNode: fromPromise<void>(notProvided),
    /** Reads the stream. */
    resume: fromPromise<void>(notProvided),
    /** Publishes the timelock's logs from before the first block. */
    publishReads: fromPromise<void>(notProvided),
    compare: fromPromise<Comparison>(notProvided),
    /** Publishes spans of many blocks, from the compared block up to the newest blocks. */
    publishRanges: fromPromise<void>(notProvided),
    /** Publishes the newest blocks, one per span. */
    publishBlocks: fromPromise<void>(notProvided),
    /** Proves the node's branch, and forgets the published blocks that are not on it. */
    proveBranch: fromPromise<void>(notProvided),
    /** Resolves when all cancelled work has stopped publishing. */
    awaitIdle: fromPromise<void>(notProvided),
    /** Resolves when the connection to NATS is established again. */
    awaitReconnection: fromPromise<void>(notProvided),
  },
  guards: {
    /** The node lags, restarted or syncs. */
    isNodeBehind: ({ context: { head, tip } }) => head !== null && tip !== null && tip < head,
    isBeforeFirstBlock: ({ context: { tip, firstBlock } }) => tip !== null && tip < firstBlock,
    /** Another block of the same height is not a longer chain, so nothing is replaced for it. */
    isAtTip: ({ context: { head, tip } }) => head === tip,
    isFork: ({ context }) => context.isFork,
    /** Spans of many blocks are published next. */
    isFarBehind: ({ context: { firstBlock, head, tip } }) =>
      tip !== null && tip - (head === null ? firstBlock : head + 1n) >= singleBlocks,
    /** Whether the chain can have logs before the first block. Its genesis block has none. */
    hasEarlierLogs: ({ context }) => context.firstBlock > 1n,
    isUnpublishable: hasKind('unpublishable'),
  },
  actions: {
    /** Gives the provider of the work access to the running actor. */
    noteStarted: notProvided,
    noteSuccess: assign({ failures: 0, waitingFor: null }),
    noteComparison: assign(({ context }, { head, tip, isFork }: Comparison) => {
      const { catchesUpTo } = context;
      const isDone = catchesUpTo === null || (head !== null && head >= catchesUpTo);
      return { head, tip, isFork, catchesUpTo: isDone ? null : catchesUpTo };
    }),
    noteFailure: assign(({ context }, { error }: { error: unknown }) => {
      const kind = readKind(error);
      const waitingFor = (kind && awaitedParts[kind]) ?? 'the node';
      return {
        error,
        waitingFor,
        failures: context.failures + 1,
        lostRaces: context.lostRaces + (kind === 'lostRace' ? 1 : 0),
        providerFailures: context.providerFailures + (waitingFor === 'the node' ? 1 : 0),
      };
    }),
  },
  delays: {
    poll: ({ context }) => context.timings.pollMs,
    rareRetry: ({ context }) => context.timings.rareRetryMs,
    grace: ({ context }) => context.graceMs,
    backoff: ({ context }) => backoffDelay(context.timings.backoff)({ context }),
  },
});

const noteFailure = { type: 'noteFailure', params: passError } as const;

/** Transitions after a failure. */
const failed = [
  { guard: 'isUnpublishable', target: '#unpublishable', actions: noteFailure },
  { target: '#failing', actions: noteFailure },
] as const;

const comparing = indexer.createStateConfig({
  invoke: {
    src: 'compare',
    onDone: {
      target: '#deciding',
      actions: { type: 'noteComparison', params: ({ event }) => event.output },
    },
    onError: failed,
  },
});

/**
 * The indexer publishes the node's blocks that the stream lacks, and nothing unproven. After any failure it waits and reconnects. Each step
 * begins with a comparison of node and stream, which decides what the step does. Next to the blocks it publishes the timelock's logs from
 * before the first block, which no block waits for: a node may omit them, and they are requested until they are complete.
 */
export const indexerMachine = indexer.createMachine({
  id: 'indexer',
  type: 'parallel',
  entry: 'noteStarted',
  context: ({ input: { firstBlock, timings } }) => ({
    timings,
    firstBlock,
    head: null,
    tip: null,
    isFork: false,
    catchesUpTo: null,
    failures: 0,
    error: null,
    waitingFor: null,
    reorganizations: 0,
    providerFailures: 0,
    lostRaces: 0,
    graceMs: 0,
  }),
  on: {
    stopped: {
      target: ['.blocks.stopping', '.reads.ended'],
      actions: assign({ graceMs: ({ event }) => event.graceMs }),
    },
  },
  states: {
    blocks: {
      initial: 'connecting',
      states: {
        connecting: {
          id: 'connecting',
          initial: 'askingNode',
          states: {
            askingNode: { invoke: { src: 'askNode', onDone: 'resuming', onError: failed } },
            resuming: {
              invoke: {
                src: 'resume',
                onDone: { target: 'comparing', actions: raise({ type: 'resumed' }) },
                onError: failed,
              },
            },
            comparing,
            awaitingFirstBlock: { id: 'awaitingFirstBlock', after: { poll: 'comparing' } },
          },
        },
        deciding: {
          id: 'deciding',
          always: [
            { guard: 'isNodeBehind', target: 'lagging', actions: 'noteSuccess' },
            { guard: 'isBeforeFirstBlock', target: '#awaitingFirstBlock', actions: 'noteSuccess' },
            { guard: 'isAtTip', target: '#upToDate', actions: 'noteSuccess' },
            { guard: 'isFork', target: 'reorganizing' },
            { guard: 'isFarBehind', target: 'catchingUp' },
            { target: '#publishing' },
          ],
        },
        catchingUp: {
          entry: assign({ catchesUpTo: ({ context }) => context.tip }),
          invoke: {
            src: 'publishRanges',
            // Continues with the single blocks of the same comparison. A new comparison would also find blocks that were mined in the meantime.
            onDone: { target: '#publishing', actions: 'noteSuccess' },
            onError: failed,
          },
        },
        following: {
          initial: 'looking',
          states: {
            looking: comparing,
            publishing: {
              id: 'publishing',
              invoke: {
                src: 'publishBlocks',
                onDone: { target: 'looking', actions: 'noteSuccess' },
                onError: failed,
              },
            },
            upToDate: { id: 'upToDate', after: { poll: 'looking' } },
          },
        },
        /** The blocks of the branch are published like any others. */
        reorganizing: {
          invoke: {
            src: 'proveBranch',
            onDone: {
              target: 'following',
              actions: assign({ reorganizations: ({ context }) => context.reorganizations + 1 }),
            },
            onError: failed,
          },
        },
        lagging: {
          initial: 'waitingForNode',
          states: {
            waitingForNode: { after: { poll: 'comparingAgain' } },
            comparingAgain: comparing,
          },
        },
        /** NATS or the node failed, the node gave an inconsistent answer, or another indexer published first. */
        failing: {
          id: 'failing',
          initial: 'awaitingIdle',
          states: {
            awaitingIdle: { invoke: { src: 'awaitIdle', onDone: 'backingOff' } },
            backingOff: {
              invoke: { src: 'awaitReconnection', onDone: '#connecting' },
              after: { backoff: '#connecting' },
            },
          },
        },
        /** NATS or the fold would refuse the next span, and nothing after it could be folded. The indexer retries rarely, and whenever NATS has restarted. */
        unpublishable: {
          id: 'unpublishable',
          invoke: { src: 'awaitReconnection', onDone: '#connecting' },
          after: { rareRetry: '#connecting' },
        },
        stopping: { invoke: { src: 'awaitIdle', onDone: 'stopped' }, after: { grace: 'stopped' } },
        stopped: { type: 'final' },
      },
    },
    reads: {
      initial: 'idle',
      states: {
        // Each time the stream is read, since a recreated one no longer holds the logs.
        idle: { on: { resumed: { guard: 'hasEarlierLogs', target: 'asking' } } },
        asking: { invoke: { src: 'publishReads', onDone: 'idle', onError: 'waiting' } },
        waiting: { after: { rareRetry: 'asking' } },
        ended: { type: 'final' },
      },
    },
  },
});
