import type { Episode, Fault, Plan, WeatherPlan } from './plan.ts';

/** Weather without faults, and hardly a delay. */
export const calmWeather: WeatherPlan = {
  messageUnanswered: 0,
  messageLost: 0,
  messageCut: 0,
  statementRefused: 0,
  statementApplied: 0,
  statementTorn: 0,
  statementUnanswered: 0,
  statementLate: 0,
  nodeRefused: 0,
  nodeUnanswered: 0,
  nodeGateway: 0,
  nodeError: 0,
  nodeLie: 0,
  nodeShuffled: 0,
  nodeLagBlocks: 0,
  latencyMsMax: 4,
};

type GivenFault = readonly [second: number, kind: Fault['kind'], members?: object];
type GivenEpisode = Partial<Omit<Episode, 'faults' | 'weather'>> & {
  readonly weather?: Partial<WeatherPlan>;
};

export const episode = (
  faults: readonly GivenFault[],
  { weather = {}, ...rest }: GivenEpisode = {},
): Episode => ({
  durationMs: 100_000,
  sleepMs: 0,
  readingsPerSecond: 3,
  secondsPerBlock: 2,
  ...rest,
  weather: { ...calmWeather, ...weather },
  faults: faults.map(([second, kind, members = {}]) => ({
    atMs: Math.round(second * 1_000),
    // Each kind has its own members (`plan.ts`).
    fault: { kind, ...members } as Fault,
  })),
});

export const plan = (seed: string, episodes: readonly Episode[], rest: Partial<Plan> = {}): Plan => ({
  seed,
  beforeGenesisMs: -2 * 86_400_000,
  episodes,
  ...rest,
});
