/** Genesis of the deployments in tests: noon, a multiple of 1800 s. */
export const genesisMs = Date.UTC(2026, 0, 31, 12);
