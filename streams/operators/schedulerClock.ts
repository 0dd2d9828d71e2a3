import { asyncScheduler, type Subscription } from 'rxjs';

/** A clock for machines on RxJS's scheduler, so that a test's virtual time controls both. */
export const schedulerClock = {
  setTimeout: (fire: () => void, ms: number): Subscription => asyncScheduler.schedule(fire, ms),
  clearTimeout: (scheduled: Subscription | undefined): void => scheduled?.unsubscribe(),
};
