import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AcceptanceState,
  acceptReading,
  findRejection,
  shareStrings,
} from '../../actors/wheel/acceptance.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { acceptedReading } from '../support/readings/acceptedReading.ts';

const bootA = 'bbbbbbbb-0000-4000-8000-00000000000a';
const bootB = 'bbbbbbbb-0000-4000-8000-00000000000b';
const epochA = 'eeeeeeee-0000-4000-8000-00000000000a';
const epochB = 'eeeeeeee-0000-4000-8000-00000000000b';
const second = 1_000;

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

  it('accepts anything first', () => {
    expect(findRejection(null, acceptedReading(first))).toBeNull();
  });

  it('rejects a sequence of the same boot that is not above the last one', () => {
    const state = stateAfter(first);
    expect(findRejection(state, acceptedReading({ ...first, observedAtMs: t + second }))).toEqual({
      reason: 'duplicate',
      detail: `sequence 7 of boot ${bootA}, the last accepted one is 7`,
    });
    expect(findRejection(state, acceptedReading({ ...first, sequence: 8 }))).toBeNull();
  });

  it('remembers the sequence of an earlier boot', () => {
    const state = stateAfter(first, { ...first, bootId: bootB, sequence: 0 });
    expect(findRejection(state, acceptedReading({ ...first, sequence: 7 }))?.reason).toBe('duplicate');
  });

  it('rejects an observation before the last accepted one, and accepts one of the same instant', () => {
    const state = stateAfter(first);
    const earlier = acceptedReading({ ...first, sequence: 8, observedAtMs: t - 1 });
    expect(findRejection(state, earlier)).toEqual({
      reason: 'out_of_order',
      detail: 'observed 1 ms before the last accepted reading',
    });
    expect(findRejection(state, acceptedReading({ ...first, sequence: 8 }))).toBeNull();
  });

  it('rejects a counter below the last one of its epoch, also when another epoch came between', () => {
    const state = stateAfter(first, { ...first, sequence: 8, counterEpoch: epochB, cumulativeWorkUnits: 3n });
    const back = { ...first, sequence: 9, cumulativeWorkUnits: 49n };
    expect(findRejection(state, acceptedReading(back))).toEqual({
      reason: 'counter_regression',
      detail: `counter 49 in epoch ${epochA}, the last accepted one is 50`,
    });
    expect(findRejection(state, acceptedReading({ ...back, cumulativeWorkUnits: 50n }))).toBeNull();
  });

  it('remembers each earlier boot and epoch once, as it was when it was left last', () => {
    const marks = [
      { bootId: bootA, counterEpoch: epochA },
      { bootId: bootB, counterEpoch: epochB },
    ];
    const back = [0, 1, 0, 1].map((mark, sequence) => ({ ...first, ...marks[mark], sequence }));
    expect(stateAfter(...back)).toMatchObject({
      earlierBoots: [{ bootId: bootA, sequence: 2 }],
      earlierEpochs: [{ counterEpoch: epochA, cumulativeWorkUnits: 50n }],
    });
  });

  it('shares only the strings that are the same as those of the reading before', () => {
    const other = {
      bootId: bootB,
      counterEpoch: epochB,
      provenance: 'replay',
      softwareVersion: '2.0.0',
      coreStatus: 'COUNTER_FAULT',
    } as const;
    const reading = acceptedReading({ ...first, ...other });
    shareStrings(reading, acceptedReading({ ...first, softwareVersion: '1.0.0' }));
    expect(reading).toMatchObject(other);
  });

  it('names the first rule that a reading breaks', () => {
    const state = stateAfter(first);
    const allWrong = acceptedReading({ ...first, observedAtMs: t - 1, cumulativeWorkUnits: 0n });
    expect(findRejection(state, allWrong)?.reason).toBe('duplicate');
    expect(findRejection(state, { ...allWrong, sequence: 8 })?.reason).toBe('out_of_order');
  });

  it('keeps the memory of a wheel that reboots for ever within its bound', () => {
    let state: AcceptanceState | null = null;
    for (let boot = 0; boot < 500; boot++) {
      const id = String(boot).padStart(12, '0');
      const marks = {
        bootId: `bbbbbbbb-0000-4000-8000-${id}`,
        counterEpoch: `eeeeeeee-0000-4000-8000-${id}`,
      };
      state = acceptReading(state, acceptedReading({ ...first, ...marks, observedAtMs: t + boot }));
    }
    expect(state?.earlierBoots).toHaveLength(63);
    expect(state?.earlierEpochs).toHaveLength(63);
    expect(state?.earlierBoots[0]?.bootId).toBe('bbbbbbbb-0000-4000-8000-000000000498');
  });
});

describe('against a plain second implementation', () => {
  const attempt = fc.record({
    boot: fc.nat(3),
    sequence: fc.nat(12),
    observedAtMs: fc.nat(40),
    epoch: fc.nat(2),
    counter: fc.nat(20),
  });

  it('accepts and rejects the same readings for the same reasons', () => {
    fc.assert(
      fc.property(fc.array(attempt, { maxLength: 60, size: 'max' }), (attempts) => {
        let state: AcceptanceState | null = null;
        const accepted: CounterReading[] = [];
        attempts.forEach((given, index) => {
          const reading = acceptedReading({
            position: index + 1,
            bootId: `bbbbbbbb-0000-4000-8000-${String(given.boot).padStart(12, '0')}`,
            sequence: given.sequence,
            observedAtMs: given.observedAtMs + index / 2,
            counterEpoch: `eeeeeeee-0000-4000-8000-${String(given.epoch).padStart(12, '0')}`,
            cumulativeWorkUnits: BigInt(given.counter + index),
          });
          const reason = findRejection(state, reading)?.reason ?? null;
          expect(reason).toBe(naiveReason(accepted, reading));
          if (reason !== null) return;
          state = acceptReading(state, reading);
          accepted.push(reading);
        });
      }),
      { numRuns: 300 },
    );
  });
});

/** The rules as MESSAGES.md, Acceptance of readings, words them, over the whole list of accepted readings. */
function naiveReason(accepted: readonly CounterReading[], reading: CounterReading): string | null {
  const ofBoot = accepted.filter(({ bootId }) => bootId === reading.bootId).at(-1);
  if (ofBoot !== undefined && reading.sequence <= ofBoot.sequence) return 'duplicate';
  const last = accepted.at(-1);
  if (last !== undefined && reading.observedAtMs < last.observedAtMs) return 'out_of_order';
  const ofEpoch = accepted.filter(({ counterEpoch }) => counterEpoch === reading.counterEpoch).at(-1);
  if (ofEpoch !== undefined && reading.cumulativeWorkUnits < ofEpoch.cumulativeWorkUnits) {
    return 'counter_regression';
  }
  return null;
}
