import { toAddress } from '../../../actors/schemas/hex.ts';
import { buildSource } from '../chain/hashes.ts';

const timeMs = Date.UTC(2026, 0, 31, 12);

const source = {
  ...buildSource({ blockNumber: 2n ** 64n - 1n, blockTimestampMs: timeMs, logIndex: 1 }),
  ...{ position: 3, storedBy: 4 },
};

/** A row of each kind. A test changes only the members that matter to it. */
export const someRows = {
  claim: {
    ...source,
    owner: toAddress(`0x${'a'.repeat(40)}`),
    eventNumber: 0,
    kind: 'claim',
    contractAddress: toAddress(`0x${'b'.repeat(40)}`),
    tokenIds: [1n, 2n ** 200n],
    amountBaseUnits: 7n,
    fromAddress: null,
    toAddress: toAddress(`0x${'a'.repeat(40)}`),
    level: null,
    effectiveRound: null,
    nextMergeBlock: null,
  },
  event: {
    category: 'measurement',
    installationId: 'wheel-1',
    position: 5,
    ordinal: 0,
    id: 'one',
    type: 'measurement.speed_record',
    recordedAtMs: timeMs,
    arrivedAtMs: timeMs,
    event: '{}',
    keys: ['measurement'],
    storedBy: 6,
  },
} as const;
