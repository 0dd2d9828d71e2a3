import { assign, fromCallback, fromPromise, setup } from 'xstate';
import { backoffDelay } from './backoff.ts';
import { passError } from './failures.ts';
import { notProvided } from './notProvided.ts';

export type NatsEvent = { type: 'connected' } | { type: 'disconnected' };

/** The connection to NATS. The machine tries until a server answers; from then on the client reconnects by itself. */
export const natsMachine = setup({
  types: {} as {
    context: {
      readonly failures: number;
    };
    events: NatsEvent;
    tags: 'connected';
  },
  actors: {
    connect: fromPromise<void>(notProvided),
    /** Reports each time the connection is lost or established again. */
    link: fromCallback(notProvided),
  },
  actions: {
    noteFailure: assign({ failures: ({ context }) => context.failures + 1 }),
    reportFailure: (_, _params: { error: unknown }): void => notProvided(),
  },
  delays: { backoff: backoffDelay() },
}).createMachine({
  id: 'nats',
  context: { failures: 0 },
  initial: 'connecting',
  states: {
    connecting: {
      meta: { isRoutineInside: true },
      initial: 'attempting',
      states: {
        attempting: {
          invoke: {
            src: 'connect',
            onDone: '#nats.linked',
            onError: {
              target: 'waiting',
              actions: ['noteFailure', { type: 'reportFailure', params: passError }],
            },
          },
        },
        waiting: { after: { backoff: 'attempting' } },
      },
    },
    linked: {
      invoke: { src: 'link' },
      initial: 'connected',
      states: {
        connected: { tags: 'connected', on: { disconnected: 'reconnecting' } },
        reconnecting: { on: { connected: 'connected' } },
      },
    },
  },
});
