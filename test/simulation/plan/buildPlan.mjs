// Builds the kept plans and the plans of mutations.
/** Weather without faults, and hardly a delay. */
export const calmWeather = {
  messageUnanswered: 0,
  messageLost: 0,
  connectionCut: 0,
  statementRefused: 0,
  statementApplied: 0,
  statementTorn: 0,
  statementUnanswered: 0,
  nodeRefused: 0,
  nodeUnanswered: 0,
  nodeGateway: 0,
  nodeError: 0,
  nodeLie: 0,
  nodeShuffled: 0,
  nodeLagBlocks: 0,
  latencyMsMax: 4,
};

/** @param faults second of the episode, kind, and members of each fault. */
export const episode = (faults, { weather = {}, ...rest } = {}) => ({
  durationMs: 100_000,
  sleepMs: 0,
  readingsPerSecond: 3,
  secondsPerBlock: 2,
  ...rest,
  weather: { ...calmWeather, ...weather },
  faults: faults.map(([second, kind, members = {}]) => ({
    atMs: Math.round(second * 1_000),
    fault: { kind, ...members },
  })),
});

export const plan = (seed, episodes, rest = {}) => ({
  seed,
  beforeGenesisMs: -2 * 86_400_000,
  episodes,
  ...rest,
});
