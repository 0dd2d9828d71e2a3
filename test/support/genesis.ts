/** Noon, a multiple of 1800 s: the genesis of the deployments of tests. */
export const genesisMs = Date.UTC(2026, 0, 31, 12);
