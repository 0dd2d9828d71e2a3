// Plans for faults of the program that need circumstances which few seeds draw: each has these often, and nothing that is never drawn.

const fair = {
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

/** @param faults second of the episode, kind, and what else belongs to it. */
const episode = (faults, { weather = {}, ...rest } = {}) => ({
  durationMs: 100_000,
  sleepMs: 0,
  readingsPerSecond: 3,
  secondsPerBlock: 2,
  ...rest,
  weather: { ...fair, ...weather },
  faults: faults.map(([second, kind, members = {}]) => ({
    atMs: second * 1_000,
    fault: { kind, ...members },
  })),
});

const plan = (seed, episodes) => ({ seed, beforeGenesisMs: -2 * 86_400_000, episodes });

const times = (first, last, step) =>
  Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, at) => first + at * step);

/** Reorganizations of safe blocks, of those above, and of more than are kept. */
export const deepReorganizations = plan('reorganizations', [
  ...[
    [14, 15, 25, 20],
    [3, 1, 60, 90],
  ].map((depths) =>
    episode(
      depths.map((depth, at) => [20 + at * 20, 'reorganize', { depth, length: depth + (at % 2) }]),
      { secondsPerBlock: 0.5 },
    ),
  ),
]);

/** Short reorganizations again and again, also behind a time in which the node is away. */
export const shortReorganizations = plan('forks', [
  episode(
    [
      ...times(6, 96, 10).map((second, at) => [
        second,
        'reorganize',
        { depth: 1 + (at % 5), length: 2 + (at % 5) },
      ]),
      [20, 'nodeAway', { forMs: 15_000 }],
      [60, 'nodeAway', { forMs: 15_000 }],
    ].sort(([one], [other]) => one - other),
    { secondsPerBlock: 0.5, weather: { latencyMsMax: 50 } },
  ),
]);

/** Streams lose their end while no process runs, and so do the snapshots of what was folded. */
export const lostRows = plan('rows', [
  episode([], { sleepMs: 40 * 86_400_000, durationMs: 70_000, secondsPerBlock: 0.5 }),
  ...[60, 40].map((messages) =>
    episode(
      [
        [70, 'loseTail', { messages, forMs: 1_000, during: 'down' }],
        [70.001, 'killAndDamageSnapshots', { process: 0, damage: 'severalLost', downMs: 1_000 }],
      ],
      { sleepMs: 40 * 86_400_000, secondsPerBlock: 0.5 },
    ),
  ),
]);

/** Streams are created again while they are read. */
export const recreatedStreams = plan(
  'recreated',
  [1, 2].map(() => episode(times(10, 80, 14).map((second) => [second, 'recreateStream']))),
);
