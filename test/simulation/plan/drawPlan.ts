import { createRandom, type Random } from '../world/random.ts';
import { calmWeather } from './buildPlan.ts';
import {
  type Episode,
  type Fault,
  inputStreams,
  type Plan,
  type PlannedFault,
  type WeatherPlan,
} from './plan.ts';

/** Sparse plans show what one fault does alone. Dense ones have as many faults as possible, over a short history. */
type Density = 'sparse' | 'dense';

export function drawPlan(seed: string, episodeCount: number, density: Density): Plan {
  const random = createRandom(`${density} plan ${seed}`);
  const isDense = density === 'dense';
  const hasRetention = isDense && random.oneOf(5);
  return {
    seed,
    beforeGenesisMs: isDense ? 600_000 : random.pick([600_000, -2 * 86_400_000]),
    isReplicated: random.oneOf(3),
    ...(isDense && { snapshotMs: random.pick([1_000, 3_000, 10_000]) }),
    episodes: Array.from({ length: episodeCount }, () =>
      isDense ? drawDenseEpisode(random, hasRetention) : drawSparseEpisode(random),
    ),
  };
}

/** Longest sleep of a machine in hours. */
const sleepHours = [1, 8, 24 * 14, 24 * 45];

function drawSparseEpisode(random: Random): Episode {
  const durationMs = random.integer(20, 120) * 1_000;
  const faults = Array.from({ length: random.integer(0, 8) }, () => ({
    atMs: random.integer(0, durationMs),
    fault: drawFault(random, 'sparse'),
  }));
  const chance = () => (random.oneOf(3) ? random.next() ** 3 * 0.3 : 0);
  return {
    durationMs,
    weather: drawWeather(random, chance, { lagBlocksMax: 40, latenciesMs: [4, 4, 50, 400, 2_000] }),
    faults: faults.sort((a, b) => a.atMs - b.atMs),
    sleepMs: random.oneOf(2) ? random.integer(1, random.pick(sleepHours) * 3_600) * 1_000 : 0,
    readingsPerSecond: random.pick([0.02, 0.2, 1, 3, 10]),
    secondsPerBlock: random.pick([0.5, 2, 2, 12]),
    settlementsPerSecond: random.pick([0.1, 1, 3]),
  };
}

/** After each of these, messages are folded again that retention may have removed. */
const rebuilding: ReadonlySet<Fault['kind']> = new Set([
  'killAndDamageSnapshots',
  'loseTail',
  'purgeUnread',
  'recreateStream',
  'replay',
  'upgrade',
]);

function drawDenseEpisode(random: Random, hasRetention: boolean): Episode {
  const durationMs = random.integer(360, 1_080) * 1_000;
  const faults: PlannedFault[] = [];
  const gapMsMax = random.pick([1_500, 3_000, 6_000]);
  for (let atMs = 0; atMs < durationMs; atMs += random.integer(1, gapMsMax)) {
    const fault = drawFault(random, 'dense');
    const isReplaced = hasRetention && rebuilding.has(fault.kind);
    faults.push({ atMs, fault: isReplaced ? { kind: 'removeFronts', newerSnapshots: 3 } : fault });
  }
  const chance = () => (random.oneOf(2) ? random.next() * 0.5 : 0);
  return {
    durationMs,
    weather: drawWeather(random, chance, { lagBlocksMax: 12, latenciesMs: [4, 4, 50] }),
    faults,
    sleepMs: random.oneOf(6) ? random.integer(1, 8 * 3_600) * 1_000 : 0,
    readingsPerSecond: random.pick([0.5, 1, 3]),
    secondsPerBlock: random.pick([1, 4]),
    settlementsPerSecond: random.pick([0.1, 1]),
  };
}

/** Failures that are rarer than the others by these factors. */
const rarity: Partial<WeatherPlan> = { messageCut: 5, statementUnanswered: 10, nodeUnanswered: 5 };

function drawWeather(
  random: Random,
  chance: () => number,
  { lagBlocksMax, latenciesMs }: { readonly lagBlocksMax: number; readonly latenciesMs: readonly number[] },
): WeatherPlan {
  const names = Object.keys(calmWeather) as (keyof WeatherPlan)[];
  return {
    ...(Object.fromEntries(names.map((name) => [name, chance() / (rarity[name] ?? 1)])) as WeatherPlan),
    nodeLagBlocks: random.oneOf(4) ? random.integer(1, lagBlocksMax) : 0,
    latencyMsMax: random.pick(latenciesMs),
  };
}

/** Tables that processes insert into. Snapshots are drawn more often than others. */
const writtenTables = [
  'fold_states',
  'fold_states',
  'stored_rounds',
  'stored_half_hour_buckets',
  'stored_readings',
  'stored_measurement_events',
  'stored_chain_events',
  'stored_owner_activity',
];

function drawFault(random: Random, density: Density): Fault {
  const { oneOf, integer, pick } = random;
  const process = integer(0, 3);
  const [downMs, forMs] =
    density === 'dense'
      ? [integer(0, 1_000), integer(100, 4_000)]
      : [integer(0, 15_000), integer(500, 25_000)];
  const longMs = integer(500, 20_000);
  type Draws = readonly (readonly [weight: number, draw: () => Fault])[];
  const ofSparse: Draws = [
    [1, () => ({ kind: 'clockJump', process, byMs: integer(-3_600_000, 3_600_000) })],
    [1, () => ({ kind: 'rejectionsFull', forMs, hasReplay: oneOf(2) })],
  ];
  const draws: Draws = [
    [4, () => ({ kind: 'kill', process, afterSendings: oneOf(4) ? 0 : integer(1, 200), downMs })],
    [2, () => ({ kind: 'killBehindInsert', process, downMs, table: pick(writtenTables) })],
    [1, () => ({ kind: 'killAndDamageSnapshots', process, damage: pick(damages), downMs })],
    [1, () => ({ kind: 'stop', process, downMs })],
    [1, () => ({ kind: 'pause', process, forMs: longMs, hasStandby: oneOf(2), isSuspended: oneOf(2) })],
    [1, () => ({ kind: pick(['startIngest', 'startReplica', 'endReplica']) })],
    [1, () => ({ kind: 'upgrade', downMs, stream: pick(inputStreams) })],
    [1, () => ({ kind: 'stopNats', forMs })],
    [1, () => ({ kind: 'cutConnections' })],
    [1, () => ({ kind: 'leaderBehind', forMs, byMs: pick([10, 300, 3_000]) })],
    [0.5, () => ({ kind: 'twoLeases', forMs: longMs })],
    [
      1,
      () => ({
        kind: 'loseTail',
        messages: pick(lostCounts),
        forMs: integer(0, 4_000),
        during: pick(moments),
      }),
    ],
    [1, () => ({ kind: 'purgeUnread', messages: integer(1, 20), recreates: oneOf(4) })],
    [0.5, () => ({ kind: 'recreateStream', acceptedAfterMs: pick([0, forMs]) })],
    [0.5, () => ({ kind: 'wrongNats', forMs: longMs, isEmpty: oneOf(2), restarts: oneOf(2) })],
    [1, () => ({ kind: pick(['endConsumers', 'stallConsumers', 'merge']) })],
    [1, () => ({ kind: pick(['natsFull', 'stopClickHouse', 'clickHouseFull', 'nodeAway']), forMs })],
    [1, () => drawReorganization(random)],
    [1, () => ({ kind: 'returnToBranch' })],
    [1, () => ({ kind: 'largeLogs', logs: integer(1, 4), bytes: pick([3_000, 12_000, 40_000]) })],
    [1, () => ({ kind: pick(['unknownFork', 'twoPublishers']), forMs })],
    [1, () => ({ kind: 'replay', afterSendings: oneOf(4) ? 0 : integer(1, 200) })],
    ...(density === 'sparse' ? ofSparse : []),
  ];
  return random.pickWeighted(draws)();
}

/** Mostly few messages are lost, so that some history is left. */
const lostCounts = [1, 2, 5, 40];
const moments = ['run', 'down', 'start'] as const;
const damages = ['newestLost', 'severalLost', 'allLost', 'torn', 'flipped'] as const;

function drawReorganization({ pick, integer }: Random): Fault {
  const depth = pick([1, 2, 5, 12, 20, 30, 60, 90]);
  return { kind: 'reorganize', depth, length: Math.max(0, depth + integer(-1, 2)) };
}
