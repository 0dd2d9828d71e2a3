/** Subject of the lock on filling tables other than the active ones: one process at a time. */
export const replaySubject = 'miner.replay.running';
