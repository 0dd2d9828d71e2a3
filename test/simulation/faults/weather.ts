import type { WeatherPlan } from '../plan/plan.ts';
import { fairWeather, type SimulatedWorld } from '../world/createWorld.ts';
import type { Random } from '../world/random.ts';

/** Fates other than an answer, in the order of drawing. The plan says how likely each is. */
const messages = ['Unanswered', 'Lost', 'Cut'] as const;
const reads = ['Refused', 'Unanswered'] as const;
const writes = [...reads, 'Applied', 'Torn', 'Late'] as const;
const requests = ['Refused', 'Unanswered', 'Gateway', 'Error', 'Lie', 'Shuffled'] as const;

/** Lets messages, statements and requests fail as the plan says, from now on. */
export function applyWeather(
  { weather }: SimulatedWorld,
  plan: WeatherPlan,
  random: Random,
  onFault: (kind: string) => void,
): void {
  const draw = <Name extends string>(kind: 'message' | 'statement' | 'node', names: readonly Name[]) => {
    let drawn = random.next();
    for (const name of names) {
      drawn -= plan[`${kind}${name}` as keyof WeatherPlan];
      if (drawn >= 0) continue;
      onFault(`${kind} ${name}`);
      return name.toLowerCase() as Lowercase<Name>;
    }
    return 'answered';
  };
  weather.latencyMsMax = plan.latencyMsMax;
  weather.lagBlocks = plan.nodeLagBlocks;
  weather.fateOfRequest = () => draw('node', requests);
  weather.fateOfMessage = () => draw('message', messages);
  weather.fateOfStatement = (kind) => draw('statement', kind === 'write' ? writes : reads);
}

export function clearWeather({ weather }: SimulatedWorld): void {
  Object.assign(weather, fairWeather());
}
