/** Whoever fills tables beside the active ones answers on this subject: one at a time. */
export const replaySubject = 'miner.replay.running';
