import { genesisMs } from '../genesis.ts';

/** The deployment of databases in tests. A new database does not depend on it. */
export const migratedDeployment = { genesisTimestamp: genesisMs / 1000, installationId: 'wheel.one' };
