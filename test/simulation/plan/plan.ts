import type { InputStreamName } from '../../../actors/messages/subjects.ts';
import { createRandom, type Random } from '../world/random.ts';
import { type Climate, drawWeather } from './drawWeather.ts';

/** Streams that are folded, and may lose what they hold. */
export const inputStreams = ['MINER_COUNTER', 'MINER_PIPELINE', 'MINER_CHAIN'] as const;

/** Tables that processes insert into; snapshots more often than the others. */
export const writtenTables = [
  'fold_snapshots',
  'fold_snapshots',
  'rounds',
  'half_hour_buckets',
  'readings',
  'measurement_feed',
  'chain_feed_events',
  'chain_owner_activity',
] as const;

/** How often messages and statements meet with what, from 0 to 1; and how long they are on their way at most. */
export interface WeatherPlan {
  readonly messageUnanswered: number;
  readonly messageLost: number;
  readonly connectionCut: number;
  readonly statementRefused: number;
  readonly statementApplied: number;
  readonly statementTorn: number;
  readonly statementUnanswered: number;
  readonly nodeRefused: number;
  readonly nodeUnanswered: number;
  readonly nodeGateway: number;
  readonly nodeError: number;
  readonly nodeLie: number;
  readonly nodeShuffled: number;
  /** So many of the newest blocks the node does not have yet. */
  readonly nodeLagBlocks: number;
  readonly latencyMsMax: number;
}

/** Something that goes wrong at one moment. Whom it meets is a number: of the processes that there are then. */
export type Fault =
  | {
      readonly kind: 'kill';
      readonly process: number;
      readonly afterSendings: number;
      readonly downMs: number;
    }
  /** It dies behind its next insert into a table; of snapshots, of any stream unless one is named. */
  | {
      readonly kind: 'killBehindInsert';
      readonly process: number;
      readonly downMs: number;
      readonly table: string;
      readonly stream?: InputStreamName;
    }
  | {
      readonly kind: 'killAndDamageSnapshots';
      readonly process: number;
      readonly damage: SnapshotDamage;
      readonly downMs: number;
    }
  | { readonly kind: 'stop'; readonly process: number; readonly downMs: number }
  | {
      readonly kind: 'pause';
      readonly process: number;
      readonly forMs: number;
      /** Another process waits for the lease meanwhile. */
      readonly hasStandby?: boolean;
      /** Its machine is suspended: its monotonic clock and its timers stand still meanwhile. */
      readonly isSuspended?: boolean;
    }
  | { readonly kind: 'startIngest' | 'startReplica' }
  | { readonly kind: 'endReplica' }
  /** The process that ingests is replaced by one of another version, whose fold of one stream takes no state of the one before; replicas stay. */
  | { readonly kind: 'upgrade'; readonly downMs: number; readonly stream?: InputStreamName }
  | { readonly kind: 'clockJump'; readonly process: number; readonly byMs: number }
  | { readonly kind: 'stopNats'; readonly forMs: number }
  | { readonly kind: 'cutConnections' }
  | {
      readonly kind: 'loseTail';
      readonly messages: number;
      readonly forMs: number;
      /** While all processes run, while none does and other messages take the place of those, or just after they have started. */
      readonly during?: 'run' | 'down' | 'start';
    }
  /** So many messages are removed before anybody could read them: the newest ones, or the first ones of a stream that is created again. */
  | { readonly kind: 'purgeUnread'; readonly messages: number; readonly recreates?: boolean }
  /** An operator accepts the loss at once, or after some time. */
  | { readonly kind: 'recreateStream'; readonly acceptedAfterMs?: number }
  /** NATS has another folder for a while, which is empty or has streams of the same names; processes are started meanwhile, or run on. */
  | {
      readonly kind: 'wrongNats';
      readonly forMs: number;
      readonly isEmpty: boolean;
      readonly restarts: boolean;
    }
  | { readonly kind: 'endConsumers' | 'stallConsumers' }
  | { readonly kind: 'natsFull'; readonly forMs: number }
  /** The stream of rejections takes none; a replay ends meanwhile, or does not run. */
  | { readonly kind: 'rejectionsFull'; readonly forMs: number; readonly hasReplay: boolean }
  | { readonly kind: 'stopClickHouse'; readonly forMs: number }
  | { readonly kind: 'clickHouseFull'; readonly forMs: number }
  /** ClickHouse takes rows of all tables but those of snapshots. */
  | { readonly kind: 'snapshotsRefused'; readonly forMs: number }
  | { readonly kind: 'merge' }
  /** The newest `depth` blocks are replaced by so many others. */
  | { readonly kind: 'reorganize'; readonly depth: number; readonly length: number }
  /** The blocks that the last reorganization has replaced are those of the chain again, and more follow them. */
  | { readonly kind: 'returnToBranch' }
  | { readonly kind: 'nodeAway'; readonly forMs: number }
  /** A block has so many logs of metadata with so many bytes each. */
  | { readonly kind: 'largeLogs'; readonly logs: number; readonly bytes: number }
  /** For so long the chain follows a fork whose headers have a member that the service does not know; then it is given up. */
  | { readonly kind: 'unknownFork'; readonly forMs: number }
  /** For so long somebody else publishes about the same installations too. */
  | { readonly kind: 'twoPublishers'; readonly forMs: number }
  /** Retention takes what every process has folded, through the position of a snapshot that has so many newer ones. */
  | { readonly kind: 'removeFronts'; readonly newerSnapshots: number }
  /** Some messages of the readings are folded again, into other tables; killed in the middle, or not. */
  | { readonly kind: 'replay'; readonly afterSendings: number };

/** What becomes of snapshots while nobody writes them. */
export type SnapshotDamage = 'newestLost' | 'severalLost' | 'allLost' | 'torn' | 'flipped';

export interface PlannedFault {
  readonly atMs: number;
  readonly fault: Fault;
}

/** A time with faults, and a calm one behind it, at whose end everything is checked. */
export interface Episode {
  readonly durationMs: number;
  readonly weather: WeatherPlan;
  readonly faults: readonly PlannedFault[];
  /** Wheels turn on while all processes of the machine are asleep. */
  readonly sleepMs: number;
  /** How many readings arrive each second of the process's time. */
  readonly readingsPerSecond: number;
  readonly secondsPerBlock: number;
  /** How many messages of oracle, reporter, modules and signers arrive each second; a quarter of the readings without it. */
  readonly settlementsPerSecond?: number;
}

export interface Plan {
  readonly seed: string;
  /** How long before the first round the simulation begins; negative behind it, where the chain has a past. */
  readonly beforeGenesisMs: number;
  readonly episodes: readonly Episode[];
  /** How often processes save snapshots; as the service is configured without it. */
  readonly snapshotMs?: number;
}

export function drawPlan(seed: string, episodeCount: number): Plan {
  const random = createRandom(`plan ${seed}`);
  const beforeGenesisMs = random.pick([600_000, -2 * 86_400_000]);
  return { seed, beforeGenesisMs, episodes: Array.from({ length: episodeCount }, () => drawEpisode(random)) };
}

/** For so long a machine sleeps at most, while wheels and chain go on. */
const sleepHours = [1, 8, 24 * 14, 24 * 45];

function drawEpisode(random: Random): Episode {
  const durationMs = random.integer(20, 120) * 1_000;
  const faults = Array.from({ length: random.integer(0, 8) }, () => ({
    atMs: random.integer(0, durationMs),
    fault: drawFault(random),
  }));
  return {
    durationMs,
    weather: drawWeather(random, climate),
    faults: faults.sort((a, b) => a.atMs - b.atMs),
    sleepMs: random.oneOf(2) ? random.integer(1, random.pick(sleepHours) * 3_600) * 1_000 : 0,
    readingsPerSecond: random.pick([0.02, 0.2, 1, 3, 10]),
    secondsPerBlock: random.pick([0.5, 2, 2, 12]),
    settlementsPerSecond: random.pick([0.1, 1, 3]),
  };
}

/** Each kind is absent more often than not, so that what one alone does is seen too. */
const climate: Climate = {
  chance: (random) => (random.oneOf(3) ? random.next() ** 3 * 0.3 : 0),
  lagBlocksMax: 40,
  latenciesMs: [4, 4, 50, 400, 2_000],
};

function drawFault(random: Random): Fault {
  const process = random.integer(0, 3);
  const downMs = random.integer(0, 15_000);
  const forMs = random.integer(500, 25_000);
  switch (random.integer(0, 26)) {
    case 0:
    case 1:
    case 2:
      return { kind: 'kill', process, afterSendings: random.oneOf(2) ? 0 : random.integer(1, 400), downMs };
    case 3:
      return {
        kind: 'killAndDamageSnapshots',
        process,
        damage: random.pick(['newestLost', 'severalLost', 'allLost', 'torn', 'flipped']),
        downMs,
      };
    case 4:
      return { kind: 'stop', process, downMs };
    case 5:
      return { kind: 'pause', process, forMs, hasStandby: random.oneOf(2), isSuspended: random.oneOf(2) };
    case 6:
      return { kind: random.pick(['startIngest', 'startReplica']) };
    case 7:
      return { kind: 'clockJump', process, byMs: random.integer(-3_600_000, 3_600_000) };
    case 8:
      return { kind: 'stopNats', forMs };
    case 9:
      return { kind: 'cutConnections' };
    case 10:
      return {
        kind: 'loseTail',
        messages: random.integer(1, 60),
        forMs: random.integer(0, 5_000),
        during: random.pick(['run', 'down', 'start']),
      };
    case 11:
      return { kind: 'recreateStream', acceptedAfterMs: random.pick([0, forMs]) };
    case 12:
      return { kind: random.pick(['endConsumers', 'stallConsumers']) };
    case 13:
      return { kind: 'natsFull', forMs };
    case 14:
      return { kind: 'stopClickHouse', forMs };
    case 15:
      return { kind: 'clickHouseFull', forMs };
    case 16:
    case 17: {
      const depth = random.pick([1, 2, 5, 12, 20, 30, 60, 90]);
      return { kind: 'reorganize', depth, length: Math.max(0, depth + random.integer(-1, 2)) };
    }
    case 18:
      return { kind: 'nodeAway', forMs };
    case 19:
      return { kind: 'replay', afterSendings: random.oneOf(2) ? 0 : random.integer(1, 200) };
    case 20:
      return { kind: 'killBehindInsert', process, downMs, table: random.pick(writtenTables) };
    case 21:
      return { kind: 'purgeUnread', messages: random.integer(1, 30), recreates: random.oneOf(3) };
    case 22:
      return { kind: 'rejectionsFull', forMs, hasReplay: random.oneOf(2) };
    case 23:
      return { kind: 'upgrade', downMs, stream: random.pick(inputStreams) };
    case 24:
      return { kind: 'wrongNats', forMs, isEmpty: random.oneOf(2), restarts: random.oneOf(2) };
    default:
      return random.oneOf(2) ? { kind: 'merge' } : { kind: 'endReplica' };
  }
}
