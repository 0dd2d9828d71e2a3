import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import { column, count, counts, integer, oneOf, string, strings } from '../definition/column.ts';
import { defineTable } from '../definition/table.ts';
import type { EpochHolder } from './ingestEpochs.ts';

/**
 * Why a lineage is noted. The newest one that counts, `counts` or `ended`, says which rows of its stream count.
 *
 * | cause | noted by | read by | what follows |
 * |---|---|---|---|
 * | `counts` | the process that ingests, once its runs have all rows that counted before, or at once after a loss | all readers, and every process that restores a snapshot | its runs count until a later lineage does |
 * | `ended` | the same process, once everything that it folded is stored and saved | the next process that ingests | that process continues the run instead of beginning one |
 * | `pending` | the process that ingests, before it stores rows that do not count yet | the next one, if no lineage of its fold counts | that process goes on from its snapshots with a run of its own, so a killed rebuild does not begin again |
 * | `filling` | a replay, when it begins a run, and every hour | the process that removes snapshots or runs | run and snapshots stay for two days |
 * | `filled` | a replay, once everything through the position is stored | the process that ingests | that process restores the state and goes on with a run of its own, once |
 * | `merged` | the process that ingests, if a lineage has too many runs | every process that restores a snapshot | the last run is a copy of the others, whose snapshots count in every lineage with the copy |
 * | `retired` | the process that ingests, for runs that no lineage needs | every process that looks for a lineage to continue | nobody continues the runs, and their rows are dropped an hour later |
 */
const lineageCauses = ['counts', 'ended', 'pending', 'filling', 'filled', 'merged', 'retired'] as const;
export type LineageCause = (typeof lineageCauses)[number];

/** Why a process begins or continues the last run of a lineage. */
const runReasons = [
  /** The stream is folded from its beginning. */
  'begun',
  /** A process continues after another one, or after itself. */
  'continued',
  /** The stream has lost messages that had been folded. */
  'diverged',
  /** A reorganization of the chain needs an older state than the retained ones. */
  'rewound',
  /** A process continues after a replay. */
  'replayed',
] as const;
export type RunReason = (typeof runReasons)[number];

/** Causes of the lineages that count. */
export const countingCauses: readonly LineageCause[] = ['counts', 'ended'];

export interface LineageRow extends FoldIdentity, EpochHolder {
  readonly stream: InputStreamName;
  /** Number among the lineages of the process, from 1. */
  readonly step: number;
  readonly cause: LineageCause;
  /** Why the last run was begun or continued; empty unless the cause is `counts`, `ended` or `pending`. */
  readonly reason: RunReason | '';
  /** Runs whose rows count, oldest first; with `merged` and `retired`, the runs that this happened to. */
  readonly runs: readonly string[];
  /** The last message of each run whose rows count. */
  readonly throughs: readonly number[];
  readonly streamCreated: string;
  /** Last folded message when it was noted. */
  readonly position: number;
  /** The last run that it continues; empty for none. */
  readonly continuedRun: string;
  /** Epoch milliseconds. */
  readonly notedAtMs: number;
}

export const lineages = defineTable<LineageRow>({
  name: 'lineages',
  comment:
    'Which rows of a stream count. Of the rows whose cause is counts or ended, the one with the highest epoch, holder and step says it',
  columns: {
    stream: column(oneOf(inputStreamNames), {
      comment: 'Stream whose messages made the rows; any, with the cause retired',
    }),
    epoch: column(count, { comment: 'Epoch of the process that noted it' }),
    holder: column(string, {
      comment: 'The process; the last one in order counts, if several have the epoch',
    }),
    step: column(count, { comment: 'Number among the lineages of the process, from 1' }),
    cause: column(oneOf(lineageCauses), { comment: lineageCauses.join(', ') }),
    reason: column(oneOf(['', ...runReasons]), {
      comment: `Why the last run was begun or continued: ${runReasons.join(', ')}; empty with the other causes`,
    }),
    runs: column(strings, {
      comment:
        'Runs whose rows count, oldest first; with the causes merged and retired, the runs that this happened to',
    }),
    throughs: column(counts, { comment: 'Last message of each run whose rows count' }),
    foldVersion: column(integer, { comment: 'Version of the fold' }),
    configuration: column(string, { comment: 'Digest of the configuration of the fold' }),
    streamCreated: column(string, { comment: 'When the stream was created' }),
    position: column(count, { comment: 'Last folded message' }),
    continuedRun: column(string, { comment: 'Last run that it continues; empty for none' }),
    notedAtMs: column(integer, { comment: 'When it was noted (epoch milliseconds)' }),
  },
  engine: 'MergeTree()',
  orderBy: ['stream', 'epoch', 'holder', 'step'],
});
