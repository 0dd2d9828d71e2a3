import { expect, it } from 'vitest';
import { createFlagObserver, observed } from '../../actors/observed.ts';
import { type ChainObservation, chainAvailabilityMachine } from '../../machines/chainAvailabilityMachine.ts';

it('an observer of flags says of every combination what the machine says, and asks it once', () => {
  const names = [
    'isConfigured',
    'isMismatched',
    'isCaughtUp',
    'isApplied',
    'isIndexed',
    'isSafe',
    'isSupported',
  ] as const;
  const ask = (chain: ChainObservation) => observed(chainAvailabilityMachine, { type: 'observed', chain });
  let asked = 0;
  const observer = createFlagObserver((chain: ChainObservation) => {
    asked++;
    return ask(chain);
  });
  for (const turn of [1, 2]) {
    for (let bits = 0; bits < 2 ** names.length; bits++) {
      const flags = Object.fromEntries(names.map((name, index) => [name, ((bits >> index) & 1) === 1]));
      expect(observer(flags as ChainObservation)).toBe(ask(flags as ChainObservation));
    }
    expect([turn, asked]).toEqual([turn, 2 ** names.length]);
  }
});
