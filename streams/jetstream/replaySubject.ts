/** Subject of the lock of the process that fills tables other than the active ones: one at a time. */
export const replaySubject = 'miner.replay.running';
