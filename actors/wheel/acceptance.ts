import { type Rejection, reject } from '../messages/decodeMessage.ts';
import type { AcceptedReading } from './acceptedReading.ts';
import type { CounterReading } from './counterReading.ts';

/**
 * Boots and counter epochs that an installation remembers in addition to the newest: a message of an older one is
 * still rejected as out of order, since its observation is older than the newest accepted one.
 */
export const rememberedMarksMax = 63;

/** The last accepted sequence of a boot that was followed by another. */
interface BootMark {
  readonly bootId: string;
  readonly sequence: number;
}

/** The last accepted counter of an epoch that was followed by another. */
interface EpochMark {
  readonly counterEpoch: string;
  readonly cumulativeWorkUnits: bigint;
}

/** What the acceptance rules remember of one installation. Immutable. */
export interface AcceptanceState {
  readonly latest: AcceptedReading;
  /** Newest first. */
  readonly earlierBoots: readonly BootMark[];
  /** Newest first. */
  readonly earlierEpochs: readonly EpochMark[];
}

/**
 * The rules that compare a reading with the accepted ones before it (MESSAGES.md, Acceptance of readings, 4 to 6), in their
 * order. Null when it is accepted.
 */
export function findRejection(state: AcceptanceState | null, reading: CounterReading): Rejection | null {
  if (state === null) return null;
  const { latest } = state;
  const bootSequence = findLastSequence(state, reading.bootId);
  if (bootSequence !== null && reading.sequence <= bootSequence) {
    return reject(
      'duplicate',
      `sequence ${reading.sequence} of boot ${reading.bootId}, the last accepted one is ${bootSequence}`,
    ).rejection;
  }
  if (reading.observedAtMs < latest.observedAtMs) {
    return reject(
      'out_of_order',
      `observed ${latest.observedAtMs - reading.observedAtMs} ms before the last accepted reading`,
    ).rejection;
  }
  const epochCounter = findLastCounter(state, reading.counterEpoch);
  if (epochCounter !== null && reading.cumulativeWorkUnits < epochCounter) {
    return reject(
      'counter_regression',
      `counter ${reading.cumulativeWorkUnits} in epoch ${reading.counterEpoch}, the last accepted one is ${epochCounter}`,
    ).rejection;
  }
  return null;
}

/** The memory after an accepted reading. */
export function acceptReading(state: AcceptanceState | null, reading: AcceptedReading): AcceptanceState {
  if (state === null) return { latest: reading, earlierBoots: [], earlierEpochs: [] };
  const { latest } = state;
  const earlierBoots =
    reading.bootId === latest.bootId
      ? state.earlierBoots
      : remember(state.earlierBoots, latest, (mark) => mark.bootId !== reading.bootId, toBootMark);
  const earlierEpochs =
    reading.counterEpoch === latest.counterEpoch
      ? state.earlierEpochs
      : remember(
          state.earlierEpochs,
          latest,
          (mark) => mark.counterEpoch !== reading.counterEpoch,
          toEpochMark,
        );
  return { latest: reading, earlierBoots, earlierEpochs };
}

function findLastSequence({ latest, earlierBoots }: AcceptanceState, bootId: string): number | null {
  if (bootId === latest.bootId) return latest.sequence;
  return earlierBoots.find((mark) => mark.bootId === bootId)?.sequence ?? null;
}

function findLastCounter({ latest, earlierEpochs }: AcceptanceState, counterEpoch: string): bigint | null {
  if (counterEpoch === latest.counterEpoch) return latest.cumulativeWorkUnits;
  return earlierEpochs.find((mark) => mark.counterEpoch === counterEpoch)?.cumulativeWorkUnits ?? null;
}

function remember<Mark>(
  marks: readonly Mark[],
  latest: AcceptedReading,
  isOther: (mark: Mark) => boolean,
  markOf: (reading: AcceptedReading) => Mark,
): readonly Mark[] {
  return [markOf(latest), ...marks.filter(isOther)].slice(0, rememberedMarksMax);
}

function toBootMark({ bootId, sequence }: AcceptedReading): BootMark {
  return { bootId, sequence };
}

function toEpochMark({ counterEpoch, cumulativeWorkUnits }: AcceptedReading): EpochMark {
  return { counterEpoch, cumulativeWorkUnits };
}
