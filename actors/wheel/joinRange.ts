import type { BucketRow, RoundRow } from '../storedRows.ts';
import { createInstallationActor, type InstallationState } from './installationActor.ts';
import { joinAcceptance } from './rangeAcceptance.ts';
import type { FoldedRange, InstallationRange } from './rangeFold.ts';
import { joinRounds } from './rangeRounds.ts';
import type { ClosedRows } from './roundFold.ts';

/** One installation after a range. */
export interface JoinedInstallation {
  readonly state: InstallationState;
  /** What the first reading of the range closed, where the range began with it. */
  readonly closedByFirst: ClosedRows;
  /** What was open when the range began, and the range closed. */
  readonly closed: ClosedRows;
}

const nothingClosed: ClosedRows = { round: null, bucket: null };

/**
 * Continues a state with what a range makes of the messages behind it. What only grows is added up: work, counts and largest values of what was open,
 * and what is remembered of boots and epochs. The rest follows from the last accepted reading, so that one has to be the same.
 *
 * @param before null for an installation without readings before the range.
 * @returns null where the state before the range makes something else of its messages than the range took for granted.
 */
export function joinInstallation(
  before: InstallationState | null,
  range: InstallationRange,
  { fromSequence, genesisMs }: Pick<FoldedRange, 'fromSequence'> & { readonly genesisMs: number },
): JoinedInstallation | null {
  const begun = begin(before, range, fromSequence, genesisMs);
  if (begun === null) return null;
  const acceptance = joinAcceptance(begun.state.acceptance, range);
  if (acceptance === null) return null;
  const { state: roundState, closed } = joinRounds(begun.state.roundState, range);
  return { state: { acceptance, roundState }, closedByFirst: begun.closed, closed };
}

/** The state at the reading that the range began with. */
function begin(
  before: InstallationState | null,
  { first }: InstallationRange,
  fromSequence: number,
  genesisMs: number,
): { readonly state: InstallationState; readonly closed: ClosedRows } | null {
  // A position names one message of the stream, so it is the same reading.
  if (first.position < fromSequence) {
    if (before?.acceptance.latest.position !== first.position) return null;
    return { state: before, closed: nothingClosed };
  }
  const actor = createInstallationActor(first.installationId, genesisMs, before);
  const outcome = actor.receive(first, first.position);
  const state = actor.state();
  if ('rejection' in outcome || state === null) return null;
  return { state, closed: outcome.output.closed };
}

/** The rounds and buckets that a range leaves to whoever joins it. */
export function listClosed({ closedByFirst, closed }: JoinedInstallation): {
  readonly rounds: readonly RoundRow[];
  readonly buckets: readonly BucketRow[];
} {
  return {
    rounds: [closedByFirst.round, closed.round].filter((round) => round !== null),
    buckets: [closedByFirst.bucket, closed.bucket].filter((bucket) => bucket !== null),
  };
}
