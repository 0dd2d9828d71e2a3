import type { StoredBy } from '../../actors/feed/eventRows.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import { type Column, column, count, name } from './column.ts';

/** Rows of a fold are stored under a run. Lineages say which of them count. */
export interface OfRun extends StoredBy {
  readonly run: string;
}

/** A stored row. Its work is null if it exceeds the column. */
export type StoredWork<Row> = Omit<Row, 'workUnits'> & { readonly workUnits: bigint | null };

export const runColumn: Column<string> = column(name, { comment: 'Run that stored the row; see lineages' });

export function storedByColumn(stream: InputStreamName): Column<number> {
  return column(count, {
    comment: `Sequence in ${stream} of the message whose folding stored the row`,
    codec: 'Delta, ZSTD(1)',
  });
}
