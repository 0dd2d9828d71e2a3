import type { Random } from '../world/random.ts';
import type { WeatherPlan } from './plan.ts';

/** How bad the weather of a plan is. */
export interface Climate {
  /** How likely what is sent fails in one way, from 0 to 1; drawn for each way. */
  readonly chance: (random: Random) => number;
  /** Blocks that a node lags behind at most. */
  readonly lagBlocksMax: number;
  readonly latenciesMs: readonly number[];
}

/** How likely each kind of failure is during an episode. */
export function drawWeather(
  random: Random,
  { chance: draw, lagBlocksMax, latenciesMs }: Climate,
): WeatherPlan {
  const chance = () => draw(random);
  return {
    messageUnanswered: chance(),
    messageLost: chance(),
    connectionCut: chance() / 5,
    statementRefused: chance(),
    statementApplied: chance(),
    statementTorn: chance(),
    statementUnanswered: chance() / 10,
    nodeRefused: chance(),
    nodeUnanswered: chance() / 5,
    nodeGateway: chance(),
    nodeError: chance(),
    nodeLie: chance(),
    nodeShuffled: chance(),
    nodeLagBlocks: random.oneOf(4) ? random.integer(1, lagBlocksMax) : 0,
    latencyMsMax: random.pick(latenciesMs),
  };
}
