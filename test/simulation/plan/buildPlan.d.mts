import type { Episode, Fault, Plan, WeatherPlan } from './plan.ts';

type GivenFault = readonly [second: number, kind: Fault['kind'], members?: object];
type GivenEpisode = Partial<Omit<Episode, 'faults' | 'weather'>> & {
  readonly weather?: Partial<WeatherPlan>;
};

export const calmWeather: WeatherPlan;
export function episode(faults: readonly GivenFault[], settings?: GivenEpisode): Episode;
export function plan(seed: string, episodes: readonly Episode[], rest?: Partial<Plan>): Plan;
