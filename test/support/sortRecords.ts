import { type FoldRecord, formatRecord } from '../../actors/folds/foldRecord.ts';

/** Records as sorted lines, to compare states. */
export function sortRecords(records: Iterable<FoldRecord>): string[] {
  return Array.from(records, formatRecord).sort();
}
