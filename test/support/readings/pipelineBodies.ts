import { genesisMs } from '../genesis.ts';

const at = new Date(genesisMs).toISOString();

/** Valid bodies of `MINER_PIPELINE`; a test replaces only the members that matter to it. */
export const moduleBody = {
  instanceId: 'sensor',
  moduleType: 'wheel-sensor',
  driverId: 'hall',
  moduleVersion: '1.0.0',
  schemaVersion: 1,
  state: 'ready',
  observedAt: at,
  provenance: 'hardware',
  health: { checkedAt: at, message: 'well', code: 'E0' },
  data: { secret: 1 },
};

export const signerBody = {
  kind: 'ed25519',
  algorithm: 'Ed25519',
  keySlot: '0',
  enrolledAt: at,
  lastVerifiedAt: at,
  lastSignature: 'c2ln',
};

/** A submission of one round; it lacks its ID. */
export const preparedBody = {
  type: 'submission_prepared',
  previousSettledThroughRound: '0',
  settledThroughRound: '1',
  activeRoundCount: 1,
  expected: {
    cumulativeWork: '420',
    cumulativeBlockUnits: '466666666',
    workPerThousandBlocks: '900000',
    completedBlockCount: '0',
  },
};
