/*
 * Versions that a change raises by hand. A test fails if what one of them stands for has changed, and names it.
 */

/** Version of the documented interface, which is not the program's (CONTRACT.md, Versions). */
export const interfaceVersion = '1.0.0';

/**
 * Versions of the folds of each stream. A snapshot of another version is not restored; the stream is replayed.
 *
 * `records` has what the version stands for: for each kind of record in a snapshot, the number of records after fixed messages, a digest of these, and one of their
 * schema (test/actors/foldVersions.test.ts). If they change, raise the version, unless older snapshots still mean the same.
 */
export const foldVersions = {
  MINER_COUNTER: {
    version: 8,
    records: [
      'installation: 3 1c8ed7495cc8, form 5ddfa5be4a80',
      'places: 1 0857918a6119, form 978060d8cce1',
      'recentRounds: 1 c683cb8ee9cb, form 70142dfb26dd',
      'history: 1 062739538342, form 2a142d78d736',
      'day: 1 86e4b37654a9, form 5467093e6d4d',
      'progress: 1 40f3e786bd63, form 9d3dccbb6dd9',
      'measurementEvent: 11 9631e41d44a8, form 9cb3f36383ea',
    ],
  },
  MINER_PIPELINE: {
    version: 6,
    records: [
      'places: 1 97b9643f06ee, form 978060d8cce1',
      'heard: 1 831b38f96457, form 283f3fcdede2',
      'signer: 1 a148596461c4, form 8fad5d22fe36',
      'module: 1 d522a0b428e1, form e8dceeb3b0c0',
      'settlement: 1 60adaef1b882, form ae8cad68c911',
      'closedRound: 2 d5f227474e82, form a1453b77cfd6',
      'endedSubmission: 3 49da3004190d, form d1dbd87398b1',
      'rememberedIds: 5 e5cf39dd1e73, form 331b0ba3ba59',
    ],
  },
  MINER_CHAIN: {
    version: 8,
    records: [
      'fold: 1 f1e0e7b523b4, form 515531d8dcf1',
      'state: 1 5bce436c34de, form dba477bea14c',
      'settlement: 1 c5521f18a217, form d2202c165726',
      'unprocessedRound: 0 e3b0c44298fc, form 5908296c7e61',
      'checkpoint: 1 760421c88ced, form 5eb2a8ff2ceb',
      'perWeight: 1 dba3553c1c93, form 65824071d9b2',
      'activationPerWeight: 1 6238fa69d750, form 65824071d9b2',
      'pendingWeight: 0 e3b0c44298fc, form 65824071d9b2',
      'metadata: 1 d3d60e5e6dfc, form 16e393ff8f67',
      'position: 1 4958f9e1bdd2, form 741d4c534749',
      'feedEvent: 3 028e48d51f33, form d47ca6a5167b',
      'owner: 1 30a0aac2de13, form ba8473d7f116',
    ],
  },
} as const;
