/**
 * Default of `MINER_INSTALLATIONS_MAX`: installations with places in each of `MINER_COUNTER` and `MINER_PIPELINE`, not counting the
 * public one (`places.ts`). In a measurement, one took 3 KB with readings, and 7 KB with messages of `MINER_PIPELINE`.
 */
export const installationsMax = 50_000;
