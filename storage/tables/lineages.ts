import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import { column, count, counts, integer, oneOf, string, strings } from '../definition/column.ts';
import { defineTable } from '../definition/table.ts';
import type { EpochHolder } from './ingestEpochs.ts';

/** Why a lineage was noted that decides which rows count. */
export const decidingCauses = [
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
  /** The process has stored everything through the position, and stores nothing more. */
  'ended',
] as const;

/** Why one was noted that readers leave out. */
const sideCauses = [
  /** A process stores rows that count once they are as complete as those that readers see. */
  'pending',
  /** A replay stores rows that do not count yet, or never if it only compares. */
  'filling',
  /** A replay has stored everything through the position; the process that ingests continues there. */
  'filled',
  /** The last run is a copy of the ones before it, whose snapshots count wherever it does. */
  'merged',
  /** The runs never count again, so that their rows can be dropped. */
  'retired',
] as const;

const lineageCauses = [...decidingCauses, ...sideCauses] as const;
export type LineageCause = (typeof lineageCauses)[number];

export interface LineageRow extends FoldIdentity, EpochHolder {
  readonly stream: InputStreamName;
  /** Number among the lineages of the process, from 1. */
  readonly step: number;
  readonly cause: LineageCause;
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
  comment: `Which rows of a stream count. Of the rows whose cause is ${decidingCauses.join(', ')}, the one with the highest epoch, holder and step decides`,
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
