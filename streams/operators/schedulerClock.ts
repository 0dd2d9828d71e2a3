import { asyncScheduler, type Subscription } from 'rxjs';

/** What machines wait by, on RxJS's scheduler: so time stands still for both, or goes by for both, in a test. */
export const schedulerClock = {
  setTimeout: (fire: () => void, ms: number): Subscription => asyncScheduler.schedule(fire, ms),
  clearTimeout: (scheduled: Subscription | undefined): void => scheduled?.unsubscribe(),
};
