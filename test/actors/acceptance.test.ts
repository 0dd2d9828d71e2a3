import { describe, expect, it } from 'vitest';
import { type AcceptanceState, acceptReading, findRejection } from '../../actors/wheel/acceptance.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

const bootA = 'bbbbbbbb-0000-4000-8000-00000000000a';
const bootB = 'bbbbbbbb-0000-4000-8000-00000000000b';
const epochA = 'eeeeeeee-0000-4000-8000-00000000000a';
const epochB = 'eeeeeeee-0000-4000-8000-00000000000b';

function stateAfter(...readings: Partial<CounterReading>[]): AcceptanceState | null {
  let state: AcceptanceState | null = null;
  for (const reading of readings) state = acceptReading(state, acceptedReading(reading));
  return state;
}

describe('acceptance', () => {
  const t = Date.UTC(2026, 0, 31, 12);
  const first = {
    bootId: bootA,
    sequence: 7,
    observedAtMs: t,
    counterEpoch: epochA,
    cumulativeWorkUnits: 50n,
  };

  const faults: [string, Partial<CounterReading>, string][] = [
    [
      'duplicate',
      { sequence: 7 },
      `sequence: expected more than 7, the last accepted one of boot ${bootA}, given 7`,
    ],
    [
      'out_of_order',
      { observedAtMs: t - 1 },
      `observedAt: expected ${new Date(t).toISOString()} or later, the time of the last accepted reading, given ${new Date(t - 1).toISOString()}`,
    ],
    [
      'counter_regression',
      { cumulativeWorkUnits: 49n },
      `cumulativeWorkUnits: expected at least 50, the last accepted one of epoch ${epochA}, given 49`,
    ],
  ];

  it('rejects a reading for the first of its faults, and says why', () => {
    const other = { bootId: bootB, counterEpoch: epochB, cumulativeWorkUnits: 3n };
    const state = stateAfter(first, { ...first, ...other });
    const next = { ...first, sequence: 8 };
    expect(findRejection(state, acceptedReading(next))).toBeNull();
    for (const [index, [reason, fault, detail]] of faults.entries()) {
      const withLater = Object.assign({}, ...faults.slice(index).map(([, later]) => later));
      for (const change of [fault, withLater])
        expect(findRejection(state, acceptedReading({ ...next, ...change }))).toEqual({ reason, detail });
    }
  });

  it('remembers 63 boots and epochs of a wheel that reboots for ever', () => {
    let state: AcceptanceState | null = null;
    for (let boot = 0; boot < 500; boot++) {
      const id = String(boot).padStart(12, '0');
      const [bootId, counterEpoch] = [`bbbbbbbb-0000-4000-8000-${id}`, `eeeeeeee-0000-4000-8000-${id}`];
      state = acceptReading(
        state,
        acceptedReading({ ...first, bootId, counterEpoch, observedAtMs: t + boot }),
      );
    }
    expect(state?.earlierBoots).toHaveLength(63);
    expect(state?.earlierEpochs).toHaveLength(63);
    expect(state?.earlierBoots[0]?.bootId).toBe('bbbbbbbb-0000-4000-8000-000000000498');
  });
});
