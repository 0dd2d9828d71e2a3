import { type AcceptanceState, type BootMark, type EpochMark, rememberedMarksMax } from './acceptance.ts';
import type { AcceptedReading } from './acceptedReading.ts';

/** What the acceptance rules knew at the end of a range that they began knowing one reading alone. */
export interface RangeAcceptance {
  readonly acceptance: AcceptanceState;
  /** The first accepted readings of boots and epochs that they did not know, in order. */
  readonly newBoots: readonly BootMark[];
  readonly newEpochs: readonly EpochMark[];
}

/** Collects what is needed to join the memory of the acceptance rules at the end of a range to that before it. */
export interface NewMarks {
  /** @param before the memory that `reading` was accepted with. */
  add(before: AcceptanceState, reading: AcceptedReading): void;
  readonly newBoots: readonly BootMark[];
  readonly newEpochs: readonly EpochMark[];
}

export function createNewMarks(): NewMarks {
  const newBoots: BootMark[] = [];
  const newEpochs: EpochMark[] = [];
  return {
    newBoots,
    newEpochs,
    add: ({ latest, earlierBoots, earlierEpochs }, reading) => {
      const { bootId, sequence, counterEpoch, cumulativeWorkUnits } = reading;
      if (bootId !== latest.bootId && isNew(earlierBoots, (mark) => mark.bootId === bootId))
        newBoots.push({ bootId, sequence });
      if (
        counterEpoch !== latest.counterEpoch &&
        isNew(earlierEpochs, (mark) => mark.counterEpoch === counterEpoch)
      )
        newEpochs.push({ counterEpoch, cumulativeWorkUnits });
    },
  };
}

/** Where as many are remembered as there may be, nothing from before the range is. */
function isNew<Mark>(marks: readonly Mark[], isSame: (mark: Mark) => boolean): boolean {
  return marks.length < rememberedMarksMax && !marks.some(isSame);
}

/**
 * The memory after a range, of the memory at the reading that the range began with. Null where the rules, had they known what was remembered
 * then, would have rejected a reading that they accepted. Whatever they rejected they would have rejected all the same: they
 * would only have known more.
 */
export function joinAcceptance(
  before: AcceptanceState,
  { acceptance, newBoots, newEpochs }: RangeAcceptance,
): AcceptanceState | null {
  const earlierBoots = joinMarks(
    { before: before.earlierBoots, during: newBoots, after: acceptance.earlierBoots },
    (known, found) => known.bootId === found.bootId,
    (known, found) => found.sequence > known.sequence,
  );
  const earlierEpochs = joinMarks(
    { before: before.earlierEpochs, during: newEpochs, after: acceptance.earlierEpochs },
    (known, found) => known.counterEpoch === found.counterEpoch,
    (known, found) => found.cumulativeWorkUnits >= known.cumulativeWorkUnits,
  );
  if (earlierBoots === null || earlierEpochs === null) return null;
  return { latest: acceptance.latest, earlierBoots, earlierEpochs };
}

/** What a range remembers comes first, since it is newer; what was remembered before it follows as far as there is room. */
function joinMarks<Mark>(
  { before, during, after }: MarksOfRange<Mark>,
  isSame: (known: Mark, found: Mark) => boolean,
  isAccepted: (known: Mark, found: Mark) => boolean,
): readonly Mark[] | null {
  let remembered = before;
  for (const found of during) {
    const known = remembered.find((mark) => isSame(mark, found));
    if (known === undefined) continue;
    if (!isAccepted(known, found)) return null;
    remembered = remembered.filter((mark) => mark !== known);
  }
  return [...after, ...remembered].slice(0, rememberedMarksMax);
}

interface MarksOfRange<Mark> {
  readonly before: readonly Mark[];
  readonly during: readonly Mark[];
  readonly after: readonly Mark[];
}
