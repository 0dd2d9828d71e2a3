// Plans for faults that need circumstances which few seeds draw.
import { episode, plan } from './plan/buildPlan.mjs';

const times = (first, last, step) =>
  Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, at) => first + at * step);

/** `mutations.txt` names them by their seed. */
export const mutationPlans = [
  // Reorganizations above the safe block, of safe blocks, and below every retained state.
  plan('reorganizations', [
    ...[
      [14, 15, 25, 20],
      [3, 1, 60, 90],
    ].map((depths) =>
      episode(
        depths.map((depth, at) => [20 + at * 20, 'reorganize', { depth, length: depth + (at % 2) }]),
        { secondsPerBlock: 0.5 },
      ),
    ),
  ]),
  // Many short reorganizations, some after the node was away.
  plan('forks', [
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
  ]),
  // Streams and snapshots lose their newest messages while no process runs.
  plan('rows', [
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
  ]),
  // Streams are created again while they are read.
  plan(
    'recreated',
    [1, 2].map(() => episode(times(10, 80, 14).map((second) => [second, 'recreateStream']))),
  ),

  // Rejections cannot be published while a replay ends, whose snapshots are then behind them.
  plan('rejections', [
    episode([10, 40, 70].map((second) => [second, 'rejectionsFull', { forMs: 25_000, hasReplay: true }])),
  ]),
  // Processes die just after they saved snapshots of readings, while more readings arrive.
  plan('behind', [
    episode(
      [1, 80].map((second) => [
        second,
        'killBehindInsert',
        { process: 0, downMs: 1_000, table: 'fold_snapshots', stream: 'MINER_COUNTER' },
      ]),
      { durationMs: 150_000, readingsPerSecond: 10, secondsPerBlock: 12 },
    ),
  ]),
  // ClickHouse refuses the second snapshot of a process and accepts the third. Then the process dies. Few messages arrive, so that not everything changes again.
  plan('refused', [
    episode(
      [0, 202, 404].flatMap((second) => [
        [second + 110, 'snapshotsRefused', { forMs: 30_000 }],
        [second + 200, 'kill', { process: 0, afterSendings: 0, downMs: 1_000 }],
      ]),
      { durationMs: 610_000, readingsPerSecond: 0.05, secondsPerBlock: 30 },
    ),
    // Open rounds are closed here, and become rows.
    episode([], { durationMs: 20_000, sleepMs: 3_600_000 }),
  ]),
  // Processes that ingest are paused for longer than their lease, while another process waits for it.
  plan('pauses', [
    episode(
      times(10, 85, 25).map((second) => [second, 'pause', { process: 0, forMs: 12_000, hasStandby: true }]),
    ),
  ]),
  // Few messages arrive for a long time, so that sometimes only a module changes.
  plan(
    'quiet',
    [1, 2].map(() =>
      episode([], {
        durationMs: 900_000,
        readingsPerSecond: 0.005,
        secondsPerBlock: 60,
        settlementsPerSecond: 0.05,
      }),
    ),
  ),

  // The node lies now and then.
  plan('lies', [episode([], { durationMs: 200_000, secondsPerBlock: 0.25, weather: { nodeLie: 0.05 } })]),
  // The indexer is behind for some seconds, while the chain is reorganized above and below the block it reads.
  plan('meanwhile', [
    episode(
      times(5, 80, 25).flatMap((second) => [
        [second, 'nodeAway', { forMs: 12_000 }],
        ...[17, 19, 21, 23].map((later) => [second + later, 'reorganize', { depth: 25, length: 26 }]),
      ]),
      { durationMs: 105_000, weather: { latencyMsMax: 400 } },
    ),
  ]),
  // The node follows another branch for two seconds, and then returns.
  plan('returning', [
    episode([
      [94, 'reorganize', { depth: 3, length: 4 }],
      [96, 'returnToBranch'],
    ]),
  ]),
  // NATS has another folder, which is empty or has streams of the same names, while processes start or run on.
  plan(
    'wrong',
    [true, false].flatMap((isEmpty) =>
      [true, false].map((restarts) =>
        episode([[40, 'wrongNats', { forMs: 20_000, isEmpty, restarts }]], { readingsPerSecond: 1 }),
      ),
    ),
  ),

  // Logs that need a message of their own, and logs that no message can hold, next to small ones.
  plan('large', [
    episode(
      [3_000, 12_000, 40_000].flatMap((bytes, at) => [
        [10 + at * 10, 'largeLogs', { logs: 4, bytes }],
        [15 + at * 10, 'kill', { process: 0, afterSendings: 0, downMs: 100 }],
      ]),
      { durationMs: 50_000 },
    ),
  ]),
  // The chain follows a fork that the service does not know, and gives it up.
  plan('unknown', [
    episode(
      [10, 40].map((second) => [second, 'unknownFork', { forMs: 15_000 }]),
      { durationMs: 60_000, secondsPerBlock: 0.5 },
    ),
  ]),
  // Two gateways, oracles and reporters say different things about the same installations.
  plan('two', [
    episode(
      [5, 30].map((second) => [second, 'twoPublishers', { forMs: 20_000 }]),
      { durationMs: 60_000 },
    ),
  ]),
  // Retention removes messages through the snapshots from which processes then start.
  plan(
    'fronts',
    [
      episode(
        [20, 40, 60].flatMap((second) => [
          [second, 'removeFronts', { newerSnapshots: 0 }],
          [second + 1, 'kill', { process: 0, afterSendings: 0, downMs: 100 }],
        ]),
        { durationMs: 70_000 },
      ),
    ],
    { snapshotMs: 3_000 },
  ),

  // Nothing goes wrong, and a replica serves too.
  plan('replicas', [episode([[1, 'startReplica']])]),
];
