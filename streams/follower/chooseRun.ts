import { isSameLineage, type Lineage, lastRunBegins } from '../../storage/runs/lineages.ts';
import type { RunReason } from '../../storage/tables/lineages.ts';
import type { RestoredPosition } from './restoreFold.ts';

/** Everything that decides under which run a process stores its rows. */
export interface RunFacts extends Pick<RestoredPosition, 'choice' | 'position' | 'firstSequence' | 'fault'> {
  /** The lineage that the process continues; null if it has nothing to continue. */
  readonly earlier: Lineage | null;
  /** The newest lineage that counts, of any fold. */
  readonly newest: Lineage | null;
  /** The newest message after the position that stored a row which counts; the position if none did. */
  readonly tip: number;
  /** Whether the stream has lost messages whose rows are stored. */
  readonly hasDiverged: boolean;
}

/** The run of a process that stores rows, and when it counts. */
type RunChoice =
  /** The run that ended in good order goes on. */
  | { readonly outcome: 'resumes'; readonly reason: 'continued'; readonly earlier: Lineage }
  /** A new run counts at once. */
  | { readonly outcome: 'counts'; readonly reason: RunReason }
  /** A new run counts once the rows of all messages through `due` are stored, so that no row vanishes in between. */
  | { readonly outcome: 'waits'; readonly reason: RunReason; readonly due: number };

export function chooseRun(facts: RunFacts): RunChoice {
  const { earlier, position, firstSequence, tip } = facts;
  const reason = findReason(facts);
  if (reason === 'continued' && earlier !== null && canResume(earlier, facts))
    return { outcome: 'resumes', reason, earlier };
  // Rows of lost messages stop counting at once, unless rows of messages that retention removed have to be made from them.
  const isReplaced = reason === 'diverged' || reason === 'rewound';
  const due = isReplaced ? Math.min(tip, firstSequence - 1) : tip;
  return due > position ? { outcome: 'waits', reason, due } : { outcome: 'counts', reason };
}

function findReason({ earlier, fault, hasDiverged }: RunFacts): RunReason {
  if (hasDiverged) return 'diverged';
  if (fault === 'olderSnapshotNeeded') return 'rewound';
  if (earlier === null) return 'begun';
  if (earlier.cause === 'filled') return 'replayed';
  return (earlier.cause === 'pending' && earlier.reason) || 'continued';
}

/** Whether nobody has stored rows of later messages since the earlier run ended. */
function canResume(
  { cause, position: endedAt, runs }: Lineage,
  { newest, choice, position, tip }: RunFacts,
): boolean {
  // Another version may have stored more since.
  const isNewest = tip <= position || isSameLineage(newest?.runs ?? [], runs);
  // Below its beginning, the rows are of an earlier run.
  return (
    cause === 'ended' && endedAt === choice.newestPosition && isNewest && position >= lastRunBegins(runs)
  );
}
