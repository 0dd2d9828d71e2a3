import type { Clock } from '../../actors/clock.ts';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { Database } from '../clickhouse/database.ts';
import { type LineageRuns, readLineage } from './lineages.ts';

/** How long a reader relies on a lineage. Its rows stay, so an older one only lacks the newest rows. */
const freshMs = 5_000;

/** The runs whose rows count. A reader that misses a row asks again. */
export type ReadRuns = (again?: boolean) => Promise<LineageRuns>;

interface RunsReaderOptions {
  readonly database: Database;
  readonly stream: InputStreamName;
  readonly identity: FoldIdentity;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** For a process that only reads: the lineage that another process has noted last. */
export function createRunsReader({ database, stream, identity, clock }: RunsReaderOptions): ReadRuns {
  let known: { readonly runs: LineageRuns; readonly atMs: number } | null = null;
  return async (again = false) => {
    const atMs = clock.monotonicMs();
    if (known !== null && !again && atMs - known.atMs < freshMs) return known.runs;
    const runs = (await readLineage(database, stream, identity))?.runs ?? [];
    known = { runs, atMs };
    return runs;
  };
}
