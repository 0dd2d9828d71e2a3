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
      [5, 30].map((second) => [second, 'twoPublishers', { forMs: 20_000 }]),
      { durationMs: 60_000 },
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
  // Nothing goes wrong, and a replica serves too.
  replicas: plan('replicas', [episode([[1, 'startReplica']])]),
};
