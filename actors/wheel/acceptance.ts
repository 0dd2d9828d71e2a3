import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { type Rejection, reject } from '../messages/decodeMessage.ts';
import { describeTime } from '../schemas/durations.ts';
import { amount, count } from '../schemas/stateScalars.ts';
import { type CounterReading, counterReading } from './counterReading.ts';

/**
 * Boots and counter epochs that an installation remembers in addition to the newest. Readings of older boots are still rejected as out of
 * order, since they were observed before the newest accepted reading.
 */
const rememberedMarksMax = 63;

/** State of one installation's acceptance rules. Immutable. */
export const acceptanceState = z.strictObject({
  latest: counterReading,
  /** Last accepted sequence of each earlier boot, newest first. */
  earlierBoots: z.array(z.strictObject({ bootId: z.string(), sequence: count })),
  /** Last accepted counter of each earlier epoch, newest first. */
  earlierEpochs: z.array(z.strictObject({ counterEpoch: z.string(), cumulativeWorkUnits: amount })),
});
export type AcceptanceState = Inferred<typeof acceptanceState>;

/**
 * Applies the rules that compare a reading with earlier accepted ones, in order (MESSAGES.md, Acceptance of readings, 6 to 8).
 * Null if the reading is accepted.
 */
export function findRejection(state: AcceptanceState | null, reading: CounterReading): Rejection | null {
  if (state === null) return null;
  const { latest } = state;
  const bootSequence = findLastSequence(state, reading.bootId);
  if (bootSequence !== null && reading.sequence <= bootSequence) {
    return reject(
      'duplicate',
      `sequence: expected more than ${bootSequence}, the last accepted one of boot ${reading.bootId}, given ${reading.sequence}`,
    ).rejection;
  }
  if (reading.observedAtMs < latest.observedAtMs) {
    return reject(
      'out_of_order',
      `observedAt: expected ${describeTime(latest.observedAtMs)} or later, the time of the last accepted reading, given ${describeTime(reading.observedAtMs)}`,
    ).rejection;
  }
  const epochCounter = findLastCounter(state, reading.counterEpoch);
  if (epochCounter !== null && reading.cumulativeWorkUnits < epochCounter) {
    return reject(
      'counter_regression',
      `cumulativeWorkUnits: expected at least ${epochCounter}, the last accepted one of epoch ${reading.counterEpoch}, given ${reading.cumulativeWorkUnits}`,
    ).rejection;
  }
  return null;
}

export function acceptReading(state: AcceptanceState | null, reading: CounterReading): AcceptanceState {
  if (state === null) return { latest: reading, earlierBoots: [], earlierEpochs: [] };
  const { latest, earlierBoots, earlierEpochs } = state;
  const { bootId, sequence, counterEpoch, cumulativeWorkUnits } = latest;
  return {
    latest: reading,
    earlierBoots:
      reading.bootId === bootId
        ? earlierBoots
        : [{ bootId, sequence }, ...earlierBoots.filter((mark) => mark.bootId !== reading.bootId)].slice(
            0,
            rememberedMarksMax,
          ),
    earlierEpochs:
      reading.counterEpoch === counterEpoch
        ? earlierEpochs
        : [
            { counterEpoch, cumulativeWorkUnits },
            ...earlierEpochs.filter((mark) => mark.counterEpoch !== reading.counterEpoch),
          ].slice(0, rememberedMarksMax),
  };
}

/**
 * Gives the reading strings of its own, or the previous reading's where they are equal, to save memory: thousands of readings are in memory.
 * Changes the reading in place, so nothing else may hold it yet.
 */
export function shareStrings(reading: z.infer<typeof counterReading>, previous: CounterReading | null): void {
  reading.installationId = share(reading.installationId, previous?.installationId);
  reading.bootId = share(reading.bootId, previous?.bootId);
  reading.counterEpoch = share(reading.counterEpoch, previous?.counterEpoch);
  reading.provenance = share(reading.provenance, previous?.provenance);
  reading.softwareVersion = share(reading.softwareVersion, previous?.softwareVersion);
  reading.coreStatus = share(reading.coreStatus, previous?.coreStatus);
}

function share<Text extends string | null>(text: Text, known: Text | undefined): Text {
  return text === known ? known : copyText(text);
}

/** A copy that keeps nothing else in memory: a string that was cut out of a message keeps the whole message. */
export function copyText<Text extends string | null>(text: Text): Text {
  return JSON.parse(JSON.stringify(text));
}

function findLastSequence({ latest, earlierBoots }: AcceptanceState, bootId: string): number | null {
  if (bootId === latest.bootId) return latest.sequence;
  return earlierBoots.find((mark) => mark.bootId === bootId)?.sequence ?? null;
}

function findLastCounter({ latest, earlierEpochs }: AcceptanceState, counterEpoch: string): bigint | null {
  if (counterEpoch === latest.counterEpoch) return latest.cumulativeWorkUnits;
  return earlierEpochs.find((mark) => mark.counterEpoch === counterEpoch)?.cumulativeWorkUnits ?? null;
}
