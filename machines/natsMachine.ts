import { fromCallback, setup } from 'xstate';

/** What a connection tells of itself. */
export type NatsEvent = { type: 'connected' } | { type: 'disconnected' };

/** The connection to NATS. The client connects again by itself, for as long as this machine runs. */
export const natsMachine = setup({
  types: { events: {} as NatsEvent, tags: {} as 'connected' },
  actors: {
    /** Connects, waiting for a server that is not there yet, and tells whenever the connection is there or is lost. */
    link: fromCallback(() => {
      throw new Error('the connection is not provided');
    }),
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
