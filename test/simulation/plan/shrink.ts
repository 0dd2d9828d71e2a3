import { calmWeather } from './buildPlan.ts';
import type { Episode, Plan, WeatherPlan } from './plan.ts';

/** Slightly smaller plans, the smallest first. */
function* listSmaller(plan: Plan): Iterable<Plan> {
  const { episodes } = plan;
  for (let count = episodes.length - 1; count > 0; count--)
    yield { ...plan, episodes: episodes.slice(0, count) };
  for (const at of episodes.keys())
    if (episodes.length > 1) yield { ...plan, episodes: episodes.toSpliced(at, 1) };
  for (const [at, episode] of episodes.entries()) {
    const change = (changed: Partial<Episode>): Plan => ({
      ...plan,
      episodes: episodes.with(at, { ...episode, ...changed }),
    });
    if (episode.faults.length > 1) yield change({ faults: [] });
    for (const index of episode.faults.keys()) yield change({ faults: episode.faults.toSpliced(index, 1) });
    if (episode.sleepMs > 0) yield change({ sleepMs: 0 });
    if (JSON.stringify(episode.weather) !== JSON.stringify(calmWeather))
      yield change({ weather: calmWeather });
    for (const kind of Object.keys(calmWeather) as (keyof WeatherPlan)[])
      if (episode.weather[kind] !== calmWeather[kind])
        yield change({ weather: { ...episode.weather, [kind]: calmWeather[kind] } });
  }
}

/**
 * Removes parts of a failing plan one after another while it still fails and time is left.
 *
 * @param fails runs a plan, and says whether the same check fails.
 */
export async function shrinkPlan(
  plan: Plan,
  fails: (smaller: Plan) => Promise<boolean>,
  hasTime: () => boolean,
): Promise<Plan> {
  for (const smaller of listSmaller(plan)) {
    if (!hasTime()) return plan;
    if (await fails(smaller)) return shrinkPlan(smaller, fails, hasTime);
  }
  return plan;
}
