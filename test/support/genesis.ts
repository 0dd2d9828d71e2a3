/** Genesis of the deployments in tests: noon, a multiple of 1800 s. */
export const genesisMs = Date.UTC(2026, 0, 31, 12);

/** A time of storing (epoch milliseconds, and nanoseconds) after everything that the messages of tests name. */
export const storedLateMs = Date.UTC(2100, 0, 1);
export const storedLateNanos = BigInt(storedLateMs) * 1_000_000n;
