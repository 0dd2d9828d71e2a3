import type { OlderActivity } from '../../../actors/views/chain/olderActivity.ts';

/** Of owners all of whose events are in memory. */
export const noOlderActivity: OlderActivity = {
  read: () => Promise.reject(new Error('no event was evicted')),
};
