import { episode, plan } from './plan/buildPlan.ts';
import type { Plan } from './plan/plan.ts';

/** Circumstances that faults of `mutations.txt` need, and the kept plans do not have. */
export const mutationPlans: Readonly<Record<string, Plan>> = {
  // Few messages arrive for a long time, so that sometimes only a module changes.
  quiet: plan(
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
  // Logs that need a message of their own, and logs that no message can hold, next to small ones.
  large: plan('large', [
    episode(
      [3_000, 12_000, 40_000].map((bytes, at) => [10 + at * 10, 'largeLogs', { logs: 4, bytes }]),
      { durationMs: 50_000 },
    ),
  ]),
  // Two gateways, oracles and reporters say different things about the same installations.
  two: plan('two', [
    episode(
      [5, 30, 60, 90].map((second) => [second, 'twoPublishers', { forMs: 25_000 }]),
      { durationMs: 120_000 },
    ),
  ]),
  // Processes are killed while blocks become final.
  kills: plan(
    'kills',
    [
      episode(
        [200, 300].map((second) => [second, 'kill', { process: 0, afterSendings: 0, downMs: 500 }]),
        { durationMs: 400_000, secondsPerBlock: 1 },
      ),
    ],
    { snapshotMs: 3_000 },
  ),
  // Processes, versions and replays follow one another, and runs are dropped. A replay ends while no process ingests. Then the rows of another version are stored
  // late.
  lineages: plan(
    'histories',
    [
      episode(
        [
          [1, 'startReplica'],
          [130, 'kill', { process: 0, afterSendings: 0, downMs: 500 }],
          [160, 'replay', { afterSendings: 0 }],
          [180, 'replay', { afterSendings: 60 }],
          [240, 'kill', { process: 1, afterSendings: 0, downMs: 500 }],
          [330, 'kill', { process: 1, afterSendings: 0, downMs: 60_000 }],
          [335, 'replay', { afterSendings: 0 }],
          [360, 'upgrade', { downMs: 500 }],
          [365, 'insertsRefused', { table: 'stored_readings', forMs: 20_000 }],
        ],
        { durationMs: 460_000, weather: { latencyMsMax: 100 } },
      ),
    ],
    { snapshotMs: 100_000 },
  ),
  // Processes are killed while a lineage cannot be noted, or while only some of its rows are stored. Before, readings are stored beyond the newest snapshot: they
  // are gathered for ten seconds.
  unnoted: plan(
    'unnoted',
    [
      episode(
        [
          [1, 'startReplica'],
          [55, 'insertsRefused', { table: 'stored_readings', forMs: 30_000 }],
          [56, 'kill', { process: 0, afterSendings: 0, downMs: 500 }],
          [75, 'insertsRefused', { table: 'lineages', forMs: 60_000 }],
          [110, 'kill', { process: 1, afterSendings: 0, downMs: 500 }],
        ],
        { durationMs: 160_000, readingsPerSecond: 10 },
      ),
      episode(
        [
          [12, 'insertsRefused', { table: 'stored_readings', forMs: 120_000 }],
          [13, 'kill', { process: 1, afterSendings: 0, downMs: 500 }],
        ],
        { durationMs: 140_000, sleepMs: 7_200_000 },
      ),
    ],
    { snapshotMs: 20_000 },
  ),
  // Two processes take the lease at the same moment.
  leases: plan('leases 2', [
    episode(
      [
        [20, 'twoLeases', { forMs: 40_000 }],
        [20, 'startIngest'],
      ],
      { durationMs: 80_000 },
    ),
  ]),
  // The stream loses messages whose readings had left memory and were read.
  lostPages: plan('lost pages 5', [
    episode([[100, 'loseTail', { messages: 800, forMs: 500 }]], {
      durationMs: 160_000,
      readingsPerSecond: 10,
    }),
  ]),
  // Nothing goes wrong, and a replica serves too.
  replicas: plan('replicas', [episode([[1, 'startReplica']])]),
};
