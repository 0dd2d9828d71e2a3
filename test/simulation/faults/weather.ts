import type { WeatherPlan } from '../plan/plan.ts';
import { fairWeather, type SimulatedWorld } from '../world/createWorld.ts';
import type { Random } from '../world/random.ts';
import type { FaultCounts } from './faultCounts.ts';

/** Fates, each with the member of the plan that says how likely it is. */
const requests = {
  refused: 'nodeRefused',
  unanswered: 'nodeUnanswered',
  gateway: 'nodeGateway',
  error: 'nodeError',
  lie: 'nodeLie',
  shuffled: 'nodeShuffled',
} as const;
const messages = { unanswered: 'messageUnanswered', lost: 'messageLost', cut: 'connectionCut' } as const;
const reads = { refused: 'statementRefused', unanswered: 'statementUnanswered' } as const;
const writes = {
  ...reads,
  applied: 'statementApplied',
  torn: 'statementTorn',
  late: 'statementLate',
} as const;

/** Lets messages, statements and requests fail as the plan says, from now on. */
export function applyWeather(
  { weather }: SimulatedWorld,
  plan: WeatherPlan,
  random: Random,
  counts: FaultCounts,
): void {
  const draw = <Fate extends string>(what: string, fates: Readonly<Record<Fate, keyof WeatherPlan>>) => {
    let drawn = random.next();
    for (const fate of Object.keys(fates) as Fate[]) {
      drawn -= plan[fates[fate]];
      if (drawn >= 0) continue;
      counts.note(`${what} ${fate}`);
      return fate;
    }
    return 'answered';
  };
  weather.latencyMsMax = plan.latencyMsMax;
  weather.lagBlocks = plan.nodeLagBlocks;
  weather.fateOfRequest = () => draw('request', requests);
  weather.fateOfMessage = () => draw('message', messages);
  weather.fateOfStatement = (kind) => draw('statement', kind === 'write' ? writes : reads);
}

export function clearWeather({ weather }: SimulatedWorld): void {
  Object.assign(weather, fairWeather());
}
