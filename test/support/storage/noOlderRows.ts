import type { OlderActivity, OlderEvents } from '../../../actors/pages/olderRows.ts';

const refuse = () => Promise.reject(new Error('no event was evicted'));

/** For sources that have evicted no event. */
export const noOlderEvents: OlderEvents = { before: refuse, after: refuse };

/** For owners with all events in memory. */
export const noOlderActivity: OlderActivity = { read: refuse, ofTransaction: refuse };
