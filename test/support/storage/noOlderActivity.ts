import type { OlderActivity } from '../../../actors/older/olderActivity.ts';

/** For owners with all events in memory. */
export const noOlderActivity: OlderActivity = {
  read: () => Promise.reject(new Error('no event was evicted')),
};
