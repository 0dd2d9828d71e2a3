import { fromCallback, setup } from 'xstate';
import { notProvided } from './notProvided.ts';

/** What a connection reports. */
export type NatsEvent = { type: 'connected' } | { type: 'disconnected' };

/** The connection to NATS. The client reconnects by itself for as long as this machine runs. */
export const natsMachine = setup({
  types: { events: {} as NatsEvent, tags: {} as 'connected' },
  actors: {
    /** Connects, waiting for a server that is not available yet, and reports whenever the connection is established or lost. */
    link: fromCallback(notProvided),
  },
}).createMachine({
  id: 'nats',
  invoke: { src: 'link' },
  initial: 'connecting',
  states: {
    connecting: { on: { connected: 'connected' } },
    connected: { tags: 'connected', on: { disconnected: 'reconnecting' } },
    reconnecting: { on: { connected: 'connected' } },
  },
});
