import type { WeatherPlan } from '../plan/plan.ts';
import { fairWeather, type SimulatedWorld } from '../world/createWorld.ts';
import type { Random } from '../world/random.ts';
import type { FaultCounts } from './faultCounts.ts';

/** What all messages and statements meet with from now on. */
export function applyWeather(
  { weather }: SimulatedWorld,
  plan: WeatherPlan,
  random: Random,
  counts: FaultCounts,
): void {
  weather.latencyMsMax = plan.latencyMsMax;
  const draw = <Fate extends string>(
    of: string,
    chances: readonly (readonly [Fate, number])[],
    calm: Fate,
  ): Fate => {
    let drawn = random.next();
    for (const [fate, chance] of chances) {
      drawn -= chance;
      if (drawn < 0) {
        counts.note(`${of} ${fate}`);
        return fate;
      }
    }
    return calm;
  };
  weather.lagBlocks = plan.nodeLagBlocks;
  weather.fateOfRequest = () =>
    draw(
      'request',
      [
        ['refused', plan.nodeRefused],
        ['unanswered', plan.nodeUnanswered],
        ['gateway', plan.nodeGateway],
        ['error', plan.nodeError],
        ['lie', plan.nodeLie],
        ['shuffled', plan.nodeShuffled],
      ],
      'answered',
    );
  weather.fateOfMessage = () =>
    draw(
      'message',
      [
        ['unanswered', plan.messageUnanswered],
        ['lost', plan.messageLost],
        ['cut', plan.connectionCut],
      ],
      'answered',
    );
  weather.fateOfStatement = (kind) =>
    draw(
      'statement',
      [
        ['refused', plan.statementRefused],
        ['unanswered', plan.statementUnanswered],
        ...(kind === 'write'
          ? ([
              ['applied', plan.statementApplied],
              ['torn', plan.statementTorn],
            ] as const)
          : []),
      ],
      'answered',
    );
}

export function clearWeather({ weather }: SimulatedWorld): void {
  Object.assign(weather, fairWeather());
}
