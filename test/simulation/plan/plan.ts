import type { InputStreamName } from '../../../actors/messages/subjects.ts';

/** Streams that are folded, and may lose messages. */
export const inputStreams = ['MINER_COUNTER', 'MINER_PIPELINE', 'MINER_CHAIN'] as const;

type Failure =
  | `message${'Unanswered' | 'Lost' | 'Cut'}`
  | `statement${'Refused' | 'Applied' | 'Torn' | 'Unanswered' | 'Late'}`
  | `node${'Refused' | 'Unanswered' | 'Gateway' | 'Error' | 'Lie' | 'Shuffled'}`;

/**
 * How likely each failure is, from 0 to 1. Also: how many blocks the node lags behind, and the longest latency.
 * ClickHouse runs applied statements, and torn ones in part, but reports both as failed. It runs late ones after some time.
 */
export type WeatherPlan = Readonly<Record<Failure | 'nodeLagBlocks' | 'latencyMsMax', number>>;

/** Index of a process among those that run when the fault strikes. */
type Victim = { readonly process: number };
type ForSomeTime = { readonly forMs: number };
type Down = { readonly downMs: number };

/** Members of each kind of fault. */
interface FaultMembers {
  kill: Victim & Down & { readonly afterSendings: number };
  /** Dies after its next insert into a table. */
  killBehindInsert: Victim & Down & { readonly table: string };
  killAndDamageSnapshots: Victim & Down & { readonly damage: SnapshotDamage };
  stop: Victim & Down;
  /** With a standby, another process waits for the lease. A suspended machine stops its monotonic clock and timers too. */
  pause: Victim & ForSomeTime & { readonly hasStandby?: boolean; readonly isSuspended?: boolean };
  startIngest: object;
  startReplica: object;
  endReplica: object;
  /** A new version, which cannot read snapshots of one stream, replaces the process that ingests. Replicas stay. */
  upgrade: Down & { readonly stream?: InputStreamName };
  clockJump: Victim & { readonly byMs: number };
  stopNats: ForSomeTime;
  cutConnections: object;
  /** Other messages take the lost sequences. Processes run, are down, or have just started. */
  loseTail: ForSomeTime & { readonly messages: number; readonly during?: 'run' | 'down' | 'start' };
  /** Removes messages before anybody reads them: the newest, or the first of a stream that is created again. */
  purgeUnread: { readonly messages: number; readonly recreates?: boolean };
  /** An operator accepts the loss at once, or after some time. */
  recreateStream: { readonly acceptedAfterMs?: number };
  /** NATS serves another folder for a while: an empty one, or one with streams of the same names. */
  wrongNats: ForSomeTime & { readonly isEmpty: boolean; readonly restarts: boolean };
  /** The leader of a replicated stream answers as of some time ago, while other servers deliver the newest messages. */
  leaderBehind: ForSomeTime & { readonly byMs: number };
  /** NATS forgets the lease, so that a second process takes it while the first still holds it. */
  twoLeases: ForSomeTime;
  endConsumers: object;
  stallConsumers: object;
  natsFull: ForSomeTime;
  /** The stream of rejections is full, possibly while a replay ends. */
  rejectionsFull: ForSomeTime & { readonly hasReplay: boolean };
  stopClickHouse: ForSomeTime;
  clickHouseFull: ForSomeTime;
  /** ClickHouse refuses only inserts into one table. */
  insertsRefused: ForSomeTime & { readonly table: string };
  merge: object;
  /** Replaces the newest `depth` blocks by `length` others. */
  reorganize: { readonly depth: number; readonly length: number };
  /** The chain returns to the branch that the last reorganization replaced. */
  returnToBranch: object;
  nodeAway: ForSomeTime;
  /** One block has this many logs of metadata, with this many bytes each. */
  largeLogs: { readonly logs: number; readonly bytes: number };
  /** The chain follows a fork whose headers have an unknown member, and then gives it up. */
  unknownFork: ForSomeTime;
  /** A second publisher contradicts the first about the same installations. */
  twoPublishers: ForSomeTime;
  /** Retention removes folded messages through the position of a snapshot that has this many newer ones. */
  removeFronts: { readonly newerSnapshots: number };
  /** A replay of some readings, which may be killed. */
  replay: { readonly afterSendings: number };
}

/** A fault at one moment. */
export type Fault<Kind extends keyof FaultMembers = keyof FaultMembers> = {
  [Each in Kind]: { readonly kind: Each } & FaultMembers[Each];
}[Kind];

/** Damage to stored snapshots while no process runs. */
export type SnapshotDamage = 'newestLost' | 'severalLost' | 'allLost' | 'torn' | 'flipped';

export interface PlannedFault {
  readonly atMs: number;
  readonly fault: Fault;
}

/** A stormy time, and the calm after it, which ends with all checks. */
export interface Episode {
  readonly durationMs: number;
  readonly weather: WeatherPlan;
  readonly faults: readonly PlannedFault[];
  /** Wheels turn on while the machine of all processes sleeps. */
  readonly sleepMs: number;
  /** Rates are per second of the processes' time. */
  readonly readingsPerSecond: number;
  readonly secondsPerBlock: number;
  /** Messages of the oracle, reporter, modules and signers; a quarter of the readings by default. */
  readonly settlementsPerSecond?: number;
}

export interface Plan {
  readonly seed: string;
  /** Time between the start of the simulation and the first round. If negative, the chain has a history. */
  readonly beforeGenesisMs: number;
  readonly episodes: readonly Episode[];
  /** Whether NATS is a cluster that holds each stream on three servers. */
  readonly isReplicated?: boolean;
  /** Interval of snapshots, if it differs from the service's own. */
  readonly snapshotMs?: number;
}
