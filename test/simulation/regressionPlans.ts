import { episode, plan } from './plan/buildPlan.ts';
import type { Plan } from './plan/plan.ts';

/** A stream loses its end, and what takes its place is deleted. */
const lostAndPurged = episode(
  [
    [20, 'loseTail', { messages: 8, forMs: 500, during: 'down' }],
    [21.5, 'purgeUnread', { messages: 6 }],
  ],
  { durationMs: 30000, readingsPerSecond: 0.5, settlementsPerSecond: 2 },
);

const kept = (seed: string, episodes: Plan['episodes'], rest: Partial<Plan> = {}): Plan =>
  plan(seed, episodes, { beforeGenesisMs: 600_000, ...rest });

/** Plans that have found something, each with the fault that it found, and one for what they leave out. Draws of seeds may change; these plans do not. */
export const regressionPlans: Readonly<Record<string, Plan>> = {
  // Disks are full, and ClickHouse is stopped.
  fullDisks: kept('20', [
    episode(
      [
        [53.718, 'natsFull', { forMs: 21678 }],
        [58.827, 'merge'],
        [72.896, 'stop', { process: 0, downMs: 11335 }],
        [87.595, 'stopClickHouse', { forMs: 10499 }],
      ],
      {
        durationMs: 97000,
        secondsPerBlock: 12,
        weather: {
          messageLost: 0.07727848266701175,
          messageCut: 0.023563517001231805,
          statementRefused: 0.017465394426572443,
          latencyMsMax: 2000,
        },
      },
    ),
  ]),
  // The clock of a process was put back before it lost NATS, and it did not come back for as long.
  clockPutBack: kept('5028', [
    episode(
      [
        [8, 'clockJump', { process: 0, byMs: -3243941 }],
        [12, 'cutConnections'],
        [20, 'stopNats', { forMs: 20985 }],
      ],
      { durationMs: 45000, readingsPerSecond: 1 },
    ),
  ]),
  // A stream lost its end before a replica had read it, and the replica waited for what there was no more.
  lostEnd: kept('5020', [
    episode(
      [
        [4.748, 'stopClickHouse', { forMs: 534 }],
        [17.939, 'cutConnections'],
        [20.717, 'loseTail', { messages: 28, forMs: 1393 }],
        [36.151, 'loseTail', { messages: 6, forMs: 2270 }],
        [44.87, 'startReplica'],
        [58.829, 'recreateStream'],
        [59.195, 'loseTail', { messages: 46, forMs: 4256 }],
        [67.068, 'stallConsumers'],
      ],
      {
        durationMs: 99000,
        readingsPerSecond: 0.2,
        secondsPerBlock: 12,
        weather: {
          messageUnanswered: 1.9859844449875683e-8,
          statementRefused: 0.200412771465872,
          statementApplied: 0.26277540270878935,
          statementTorn: 0.1726115878646668,
          statementUnanswered: 0.0001395859472664158,
        },
      },
    ),
    episode(
      [
        [4.622, 'loseTail', { messages: 38, forMs: 5000 }],
        [67.98, 'loseTail', { messages: 15, forMs: 1534 }],
        [68.782, 'loseTail', { messages: 29, forMs: 4511 }],
      ],
      {
        durationMs: 70000,
        sleepMs: 22110000,
        readingsPerSecond: 0.2,
        secondsPerBlock: 12,
        weather: {
          messageLost: 0.2837561796547005,
          messageCut: 0.007862960962854788,
          statementApplied: 0.05241508435822237,
          statementTorn: 0.01580179084170576,
        },
      },
    ),
  ]),
  // The stream of the chain lost messages whose rows were stored, but no snapshot. Their rows were shown.
  lostHistory: plan('lost history', [
    episode(
      [
        [56, 'kill', { process: 0, afterSendings: 0, downMs: 5000 }],
        [57, 'loseTail', { messages: 130, forMs: 500 }],
      ],
      { durationMs: 75000, readingsPerSecond: 0.2, secondsPerBlock: 0.3 },
    ),
  ]),
  // A stream lost its end, what took its place was deleted, and the state of what was lost was restored: rejections of the new messages were never published.
  purgedEnd: kept('purged end 1', [lostAndPurged], { snapshotMs: 1000 }),
  // A stream lost its end, what took its place was deleted, and rows of what was lost stayed, since no message was left to compare them with.
  purgedRows: kept('purged rows 3', [lostAndPurged]),
  // The stream of the chain lost the messages that had made history final, with all snapshots: rows of a branch that a reorganization replaced since were shown.
  earlyRows: kept(
    'early rows 2',
    [
      episode(
        [
          [60, 'loseTail', { messages: 30, forMs: 1500, during: 'down' }],
          [60.5, 'killAndDamageSnapshots', { process: 0, damage: 'allLost', downMs: 0 }],
          [62, 'reorganize', { depth: 76, length: 78 }],
        ],
        { durationMs: 90000, readingsPerSecond: 0.2, secondsPerBlock: 0.5, settlementsPerSecond: 0.1 },
      ),
    ],
    { snapshotMs: 1000 },
  ),
  // The chain returned to safe blocks that it had replaced: their events are sent again, which the simulator took for a fault.
  returnedBlock: kept(
    'returned block',
    [
      episode(
        [
          [25, 'reorganize', { depth: 25, length: 26 }],
          [40, 'returnToBranch'],
        ],
        { durationMs: 55000, readingsPerSecond: 0.2, secondsPerBlock: 0.5, settlementsPerSecond: 0.1 },
      ),
    ],
    { snapshotMs: 1000 },
  ),
  // A process died after the rows of rounds and before the rows of readings, and the stream lost the messages of both: the rounds stayed.
  unfinishedRows: kept(
    'unfinished rows 1',
    [
      episode([], { durationMs: 30000, sleepMs: 7200000, readingsPerSecond: 1 }),
      episode(
        [
          [0, 'killBehindInsert', { process: 0, table: 'stored_rounds', downMs: 15000 }],
          [8, 'loseTail', { messages: 60, forMs: 100 }],
        ],
        { durationMs: 60000, sleepMs: 7200000, readingsPerSecond: 1 },
      ),
    ],
    { snapshotMs: 10000 },
  ),
  // A process whose machine had been suspended said that it was ready before it had folded anything of that time.
  suspendedMachines: kept('suspended machines', [
    episode(
      [
        [0, 'startReplica'],
        [0.01, 'startReplica'],
        [20, 'pause', { process: 1, forMs: 17000, isSuspended: true }],
        [40, 'pause', { process: 0, forMs: 25000, isSuspended: true }],
        [80, 'pause', { process: 1, forMs: 45000, isSuspended: true }],
        [100, 'pause', { process: 2, forMs: 120000, isSuspended: true }],
      ],
      { durationMs: 240000 },
    ),
  ]),
  // A replay makes the state of an ingesting process and of a replica again, while readings arrive.
  replayed: kept('replayed', [
    episode(
      [
        [1, 'startReplica'],
        [12, 'replay', { afterSendings: 0 }],
      ],
      { durationMs: 30000 },
    ),
  ]),
  // In a cluster the leader had not applied what another server delivered: valid rows were removed, and an event came twice.
  leaderBehind: kept(
    'leader behind',
    [
      episode(
        [
          [1, 'startReplica'],
          [3, 'leaderBehind', { forMs: 25_000, byMs: 3_000 }],
          [12, 'kill', { process: 0, afterSendings: 20, downMs: 500 }],
          [20, 'cutConnections'],
          [30, 'leaderBehind', { forMs: 20_000, byMs: 300 }],
          [34, 'cutConnections'],
          [40, 'stopNats', { forMs: 1_000 }],
        ],
        { durationMs: 60_000, readingsPerSecond: 10 },
      ),
    ],
    { isReplicated: true, snapshotMs: 3_000 },
  ),
  // A cluster really loses its end, while its leader is behind.
  lostByCluster: kept(
    'lost by cluster',
    [
      episode(
        [
          [3, 'leaderBehind', { forMs: 50_000, byMs: 300 }],
          [20, 'loseTail', { messages: 12, forMs: 500 }],
        ],
        { durationMs: 60_000 },
      ),
    ],
    { isReplicated: true, snapshotMs: 3_000 },
  ),
};
