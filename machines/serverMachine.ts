import { assign, fromCallback, sendTo, setup } from 'xstate';
import { notProvided } from './notProvided.ts';

export type PortEvent = { type: 'bound'; port: number } | { type: 'refused'; error: unknown };

interface Context {
  /** Name of the server in logs and metrics. */
  readonly label: string;
  /** Null before the port is bound. */
  readonly port: number | null;
  /** Why the port could not be bound. */
  readonly fault: { readonly error: unknown } | null;
}

/**
 * An HTTP server on one port. While it drains, it answers as before and tells clients to connect elsewhere. Once closed, it takes no
 * more connections.
 */
export const serverMachine = setup({
  types: {} as {
    context: Context;
    input: { readonly label: string };
    events: PortEvent | { type: 'drain' } | { type: 'close' };
    output: Pick<Context, 'fault'>;
    tags: 'listening';
  },
  actors: {
    /** Binds the port, reports the outcome, and listens until it is cancelled. After `leave`, each answer closes its connection. */
    port: fromCallback<{ type: 'leave' }>(notProvided),
  },
}).createMachine({
  id: 'server',
  context: ({ input: { label } }) => ({ label, port: null, fault: null }),
  initial: 'open',
  states: {
    open: {
      invoke: { id: 'port', src: 'port' },
      on: { close: 'closed' },
      initial: 'starting',
      states: {
        starting: {
          on: {
            bound: { target: 'listening', actions: assign({ port: ({ event }) => event.port }) },
            refused: {
              target: '#server.failed',
              actions: assign({ fault: ({ event: { error } }) => ({ error }) }),
            },
          },
        },
        listening: { tags: 'listening', on: { drain: 'draining' } },
        draining: { entry: sendTo('port', { type: 'leave' }) },
      },
    },
    /** Open connections are answered until the process ends. */
    closed: { type: 'final' },
    failed: { type: 'final' },
  },
  output: ({ context: { fault } }) => ({ fault }),
});
