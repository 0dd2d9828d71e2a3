import { assign, raise } from 'xstate';
import { type AwaitedPart, indexer } from './indexerSetup.ts';

function noteFailure(waitingFor: AwaitedPart) {
  const params = ({ event }: { readonly event: { readonly error: unknown } }) => ({
    error: event.error,
    waitingFor,
  });
  return { type: 'noteFailure', params } as const;
}

/** Transitions after a failure, by what failed. */
const failed = [
  {
    guard: 'isLostRace',
    target: '#failing',
    actions: [noteFailure('NATS'), 'countLostRace'],
  },
  {
    guard: 'isStreamUnavailable',
    target: '#failing',
    actions: noteFailure('NATS'),
  },
  {
    guard: 'isUnpublishable',
    target: '#unpublishable',
    actions: noteFailure('a setting or another version'),
  },
  { target: '#failing', actions: [noteFailure('the node'), 'countProviderFailure'] },
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
 * begins with a comparison of node and stream, which decides what the step does. The timelock's logs from before the first block are
 * published first. If the node does not return them, the blocks are published anyway, and the logs are requested again later. Each time
 * the indexer reads the stream, it checks that the stream still holds them.
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
  }),
  on: {
    headMoved: { actions: assign({ head: ({ event }) => event.head }) },
    stopped: { target: ['.blocks.stopping', '.reads.ended'] },
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
                onDone: {
                  target: 'awaitingReads',
                  actions: [assign({ head: ({ event }) => event.output }), raise({ type: 'resumed' })],
                },
                onError: failed,
              },
            },
            awaitingReads: { always: { guard: 'areReadsAsked', target: 'comparing' } },
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
          id: 'following',
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
        reorganizing: {
          initial: 'proving',
          states: {
            proving: {
              invoke: {
                src: 'proveBranch',
                onDone: {
                  target: 'replacing',
                  actions: assign(({ context, event }) => ({
                    head: event.output,
                    reorganizations: context.reorganizations + 1,
                  })),
                },
                onError: failed,
              },
            },
            replacing: {
              invoke: {
                src: 'publishBranch',
                onDone: { target: '#following', actions: 'noteSuccess' },
                onError: failed,
              },
            },
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
          after: { longBackoff: '#connecting' },
        },
        stopping: { invoke: { src: 'awaitIdle', onDone: 'stopped' } },
        stopped: { type: 'final' },
      },
    },
    reads: {
      initial: 'unasked',
      states: {
        unasked: {
          on: { resumed: [{ guard: 'hasEarlierLogs', target: 'asking' }, { target: 'complete' }] },
        },
        asking: { invoke: { src: 'publishReads', onDone: 'complete', onError: 'waiting' } },
        waiting: { after: { readsRetry: 'askingAgain' } },
        askingAgain: { invoke: { src: 'publishReads', onDone: 'complete', onError: 'waiting' } },
        // A recreated stream, or one that lost its messages, no longer holds the logs.
        complete: { on: { resumed: { guard: 'hasEarlierLogs', target: 'askingAgain' } } },
        ended: { type: 'final' },
      },
    },
  },
});
