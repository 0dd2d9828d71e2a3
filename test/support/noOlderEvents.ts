import type { OlderEvents } from '../../actors/views.ts';

/** Of sources that have given up no event. */
export const noOlderEvents: OlderEvents = {
  read: () => Promise.reject(new Error('no event was given up')),
};
