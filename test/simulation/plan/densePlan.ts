import { createRandom, type Random } from '../world/random.ts';
import { type Climate, drawWeather } from './drawWeather.ts';
import {
  type Episode,
  type Fault,
  inputStreams,
  type Plan,
  type PlannedFault,
  writtenTables,
} from './plan.ts';

/**
 * A plan in which nearly everything that is sent may fail, and processes die and start again every few seconds: many faults in little time, over a
 * short history.
 */
export function drawDensePlan(seed: string, episodeCount: number): Plan {
  const random = createRandom(`dense plan ${seed}`);
  return {
    seed,
    beforeGenesisMs: 600_000,
    snapshotMs: random.pick([1_000, 3_000, 10_000]),
    episodes: drawEpisodes(random, episodeCount),
  };
}

function drawEpisodes(random: Random, count: number): Episode[] {
  const hasRetention = random.oneOf(5);
  return Array.from({ length: count }, () => drawEpisode(random, hasRetention));
}

/** What folds again what retention may have taken. */
const rebuilding: ReadonlySet<Fault['kind']> = new Set([
  'killAndDamageSnapshots',
  'loseTail',
  'purgeUnread',
  'recreateStream',
  'replay',
  'upgrade',
]);

function drawEpisode(random: Random, hasRetention: boolean): Episode {
  const durationMs = random.integer(180, 540) * 1_000;
  const faults: PlannedFault[] = [];
  for (let atMs = 0; atMs < durationMs; atMs += random.integer(1, 6_000))
    faults.push({ atMs, fault: drawFault(random) });
  if (hasRetention)
    for (const [at, { atMs, fault }] of faults.entries())
      if (rebuilding.has(fault.kind))
        faults[at] = { atMs, fault: { kind: 'removeFronts', newerSnapshots: 3 } };
  return {
    durationMs,
    weather: drawWeather(random, climate),
    faults,
    sleepMs: random.oneOf(6) ? random.integer(1, 8 * 3_600) * 1_000 : 0,
    readingsPerSecond: random.pick([0.2, 1, 3]),
    secondsPerBlock: random.pick([0.5, 2]),
    settlementsPerSecond: random.pick([0.1, 1]),
  };
}

/** Each kind is there, often in one message or statement of some. */
const climate: Climate = {
  chance: (random) => random.next() ** 2 * 0.3,
  lagBlocksMax: 12,
  latenciesMs: [4, 4, 50],
};

function drawFault(random: Random): Fault {
  const process = random.integer(0, 3);
  const downMs = random.integer(0, 1_000);
  const forMs = random.integer(100, 4_000);
  switch (random.integer(0, 24)) {
    case 0:
      return {
        kind: 'killAndDamageSnapshots',
        process,
        damage: random.pick(['newestLost', 'severalLost', 'allLost', 'torn', 'flipped']),
        downMs,
      };
    case 1:
      return { kind: 'stop', process, downMs };
    case 2:
      return {
        kind: 'pause',
        process,
        forMs: forMs * 3,
        hasStandby: random.oneOf(2),
        isSuspended: random.oneOf(2),
      };
    case 3:
      return { kind: random.pick(['startIngest', 'startReplica', 'endReplica']) };
    case 4:
      return { kind: 'stopNats', forMs };
    case 5:
      return { kind: 'cutConnections' };
    case 6: {
      const during = random.pick(['run', 'down', 'start'] as const);
      return { kind: 'loseTail', messages: random.integer(1, 20), forMs, during };
    }
    case 7:
      return { kind: random.pick(['endConsumers', 'stallConsumers', 'merge']) };
    case 8:
      return { kind: random.pick(['natsFull', 'stopClickHouse', 'clickHouseFull', 'nodeAway']), forMs };
    case 9: {
      const depth = random.pick([1, 2, 5, 12, 20, 60]);
      return { kind: 'reorganize', depth, length: depth + random.integer(0, 2) };
    }
    case 10:
      return { kind: 'returnToBranch' };
    case 11:
      return { kind: 'replay', afterSendings: random.integer(1, 200) };
    case 12:
    case 13:
      return { kind: 'killBehindInsert', process, downMs, table: random.pick(writtenTables) };
    case 14:
      return { kind: 'purgeUnread', messages: random.integer(1, 10), recreates: random.oneOf(4) };
    case 15:
      return { kind: 'upgrade', downMs, stream: random.pick(inputStreams) };
    case 16:
      return random.oneOf(2)
        ? { kind: 'recreateStream', acceptedAfterMs: random.pick([0, forMs]) }
        : { kind: 'wrongNats', forMs: forMs * 5, isEmpty: random.oneOf(2), restarts: random.oneOf(2) };
    case 17:
      return { kind: 'largeLogs', logs: random.integer(1, 4), bytes: random.pick([3_000, 12_000, 40_000]) };
    case 18:
      return { kind: 'unknownFork', forMs };
    case 19:
      return { kind: 'twoPublishers', forMs };
    default:
      return { kind: 'kill', process, afterSendings: random.integer(0, 150), downMs };
  }
}
