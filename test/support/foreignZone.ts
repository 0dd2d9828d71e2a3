import { expect } from 'vitest';

/**
 * Nothing depends on the zone of the machine, so no test runs in UTC. A date of the explorer begins at midnight, which is the day before west of Greenwich;
 * the days and readings of the other tests begin at noon, which is the day after far in the east.
 */
process.env.TZ = expect.getState().testPath?.includes('/explorer/')
  ? 'America/St_Johns'
  : 'Pacific/Kiritimati';
