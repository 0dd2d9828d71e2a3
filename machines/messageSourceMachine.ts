import { assign, fromPromise, setup } from 'xstate';
import { type BackoffBounds, backoffDelay } from './backoff.ts';
import { hasKind, passError } from './failures.ts';
import { notProvided } from './notProvided.ts';

/** States of a stream's source, as `/metrics` shows them. */
export const messageSourceStates = [
  'verifying',
  'catchingUp',
  'following',
  'interrupted',
  'gap',
  'missing',
  'diverged',
  'ended',
] as const;
export type MessageSourceState = (typeof messageSourceStates)[number];

/** After this many attempts in succession, a missing stream counts as absent rather than slow to appear. */
export const missingTimesMax = 2;
/** Short, since an attempt costs only a request, and views are stale until one succeeds. */
const backoff: BackoffBounds = { firstMs: 100, longestMs: 500 };

export type ConsumptionEnd = 'interrupted' | 'cut' | 'ended';

interface Context {
  readonly label: string;
  /** Consecutive attempts without a delivered message. */
  readonly failures: number;
  readonly missingTimes: number;
  /** Consumers that ended with the connection since the last end of the stream. */
  readonly cuts: number;
  readonly fault: unknown;
}

const report = { type: 'report', params: passError } as const;
const diverged = {
  guard: 'isDiverged',
  target: 'diverged',
  actions: { type: 'noteFault', params: passError },
} as const;

/**
 * The source of one stream. Each attempt verifies that the stream is still the folded one, then runs a consumer. Consumers can die silently,
 * so a consumer ends at the first sign of trouble. Only a divergence or the last requested message ends the source.
 */
export const messageSourceMachine = setup({
  types: {} as {
    context: Context;
    input: { readonly label: string };
    events:
      | { type: 'caughtUp' }
      /** Messages were delivered. */
      | { type: 'progressed' };
    output: { readonly fault: unknown };
  },
  actors: {
    verify: fromPromise<void>(notProvided),
    /** Runs one consumer. Resolves with `ended` once all requested messages have arrived, and with `cut` when the connection was lost. */
    consume: fromPromise<ConsumptionEnd>(notProvided),
    recreate: fromPromise<void>(notProvided),
  },
  guards: {
    isDiverged: hasKind('diverged'),
    isGap: hasKind('gap'),
    isMissing: hasKind('missing'),
    isEnded: (_, { outcome }: { outcome: ConsumptionEnd }) => outcome === 'ended',
    isCut: (_, { outcome }: { outcome: ConsumptionEnd }) => outcome === 'cut',
    isMissingForLong: ({ context }) => context.missingTimes >= missingTimesMax,
  },
  actions: {
    noteProgress: assign({ failures: 0 }),
    noteFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    /** Called when the end of the stream is no longer known. */
    noteInterruption: notProvided,
    noteFault: assign((_, { error }: { error: unknown }) => ({ fault: error })),
    report: (_, _params: { error: unknown }): void => notProvided(),
  },
  delays: { backoff: backoffDelay(backoff) },
}).createMachine({
  id: 'messageSource',
  context: ({ input: { label } }) => ({ label, failures: 0, missingTimes: 0, cuts: 0, fault: null }),
  initial: 'verifying',
  on: { progressed: { actions: 'noteProgress' } },
  states: {
    verifying: {
      invoke: {
        src: 'verify',
        onDone: { target: 'consuming', actions: assign({ missingTimes: 0 }) },
        onError: [
          diverged,
          { guard: 'isMissing', target: 'missing', actions: report },
          { target: 'interrupted', actions: report },
        ],
      },
    },
    consuming: {
      initial: 'catchingUp',
      invoke: {
        src: 'consume',
        onDone: [
          {
            guard: { type: 'isEnded', params: ({ event }) => ({ outcome: event.output }) },
            target: 'ended',
          },
          {
            guard: { type: 'isCut', params: ({ event }) => ({ outcome: event.output }) },
            target: 'interrupted',
            actions: ['noteInterruption', assign({ cuts: ({ context }) => context.cuts + 1 })],
          },
          { target: 'interrupted', actions: 'noteInterruption' },
        ],
        onError: [
          diverged,
          { guard: 'isGap', target: 'gap', actions: ['noteInterruption', report] },
          { target: 'interrupted', actions: ['noteInterruption', report] },
        ],
      },
      states: {
        catchingUp: { on: { caughtUp: { target: 'following', actions: assign({ cuts: 0 }) } } },
        following: {},
      },
    },
    interrupted: { entry: 'noteFailure', after: { backoff: 'verifying' } },
    /** Waits until the missing messages arrive, or the stream reports their removal. */
    gap: { entry: 'noteFailure', after: { backoff: 'verifying' } },
    missing: {
      entry: ['noteFailure', assign({ missingTimes: ({ context }) => context.missingTimes + 1 })],
      initial: 'looking',
      states: {
        looking: {
          always: [{ guard: 'isMissingForLong', target: 'recreating' }, { target: 'waiting' }],
        },
        recreating: { invoke: { src: 'recreate', onDone: 'waiting', onError: 'waiting' } },
        waiting: { after: { backoff: '#messageSource.verifying' } },
      },
    },
    diverged: { type: 'final' },
    ended: { type: 'final' },
  },
  output: ({ context }) => ({ fault: context.fault }),
});
