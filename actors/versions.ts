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
    version: 13,
    records: [
      'installation: 3 20c78acc7347, form 5ddfa5be4a80',
      'places: 1 284c69cb5d3e, form 978060d8cce1',
      'history: 1 88441da473d7, form 60e4f288baca',
      'day: 1 7cea825a63ba, form 5467093e6d4d',
      'progress: 1 f5dd9e3057f0, form 2dfca6340b10',
      'measurementEvent: 11 aa52b4dc7f08, form 9cb3f36383ea',
    ],
  },
  MINER_PIPELINE: {
    version: 9,
    records: [
      'places: 1 7b6c34ec476e, form 978060d8cce1',
      'heard: 1 f5137b928a87, form 283f3fcdede2',
      'signer: 1 372efe8add72, form 8fad5d22fe36',
      'module: 1 4474a267acd5, form e8dceeb3b0c0',
      'settlement: 1 907d22379b2f, form 3ddfa2864038',
      'closedRound: 2 d6bc6fa9620b, form a1453b77cfd6',
      'endedSubmission: 3 89355ce429ad, form d1dbd87398b1',
      'rememberedIds: 5 9255ad3d54c6, form 0bb110261ef5',
    ],
  },
  MINER_CHAIN: {
    version: 14,
    records: [
      'fold: 1 817e2114c5dc, form 515531d8dcf1',
      'state: 1 ec58ad9e9669, form ab5baaf02f69',
      'settlement: 1 5ff75156be40, form 83c910c54d59',
      'unprocessedRound: 0 e3b0c44298fc, form 5908296c7e61',
      'checkpoint: 1 97d4ae00a664, form 3e25613b42e9',
      'perWeight: 1 224542b16551, form 65824071d9b2',
      'activationPerWeight: 1 bdae65224c5a, form 65824071d9b2',
      'pendingWeight: 0 e3b0c44298fc, form 65824071d9b2',
      'metadata: 1 f6f2e6a806a9, form 16e393ff8f67',
      'position: 1 4958f9e1bdd2, form 741d4c534749',
      'feedEvent: 3 31ed58c95039, form 28c4f2165f14',
      'owner: 1 58d9ec49995e, form 06c8c45e0e43',
      'pastOwners: 0 e3b0c44298fc, form 16d4a25dcfe1',
    ],
  },
} as const;
