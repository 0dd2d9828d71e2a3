import type { OlderEvents } from '../../../actors/feed/olderEvents.ts';

const refuse = () => Promise.reject(new Error('no event was evicted'));

/** For sources that have evicted no event. */
export const noOlderEvents: OlderEvents = {
  before: refuse,
  after: refuse,
};
