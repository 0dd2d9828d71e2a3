import { findFirstIndex } from '../../actors/events/findFirstIndex.ts';
import type { CounterReading } from '../../actors/wheel/counterReading.ts';
import { isSameHistory, type VisibleRuns } from '../runs/lineages.ts';

/** Pages that are read at once for a client that reads page after page. They cost ClickHouse a third more than one page. */
export const pagesAhead = 10;
/** Clients whose next pages are kept: about 16 MB if all read pages of 100. */
export const clientsAheadMax = 32;

/** Where rows were read. */
interface RowsSource {
  readonly runs: VisibleRuns;
  readonly installationId: string;
}

interface Rows extends RowsSource {
  readonly after: number;
  /** Every accepted reading above `after` through the last one, ascending. */
  readonly readings: readonly CounterReading[];
}

interface AheadQuery extends RowsSource {
  readonly after: number;
  readonly limit: number;
  /** Readings received before this time are no longer read; null if all are. */
  readonly oldestMs: number | null;
}

/** Stored readings that were read for one page and the pages that follow it. */
export function createReadAhead() {
  /** In the order of their use, the latest last. */
  const kept = new Set<Rows>();
  return {
    /**
     * Readings kept above a position; null unless there are as many as the limit. `isContinued` if the position lies within rows that were
     * read, so the client reads page after page.
     */
    find: ({ runs, installationId, after, limit, oldestMs }: AheadQuery) => {
      for (const rows of kept) {
        const { readings } = rows;
        const isWithin = rows.after <= after && after <= (readings.at(-1)?.position ?? rows.after);
        if (rows.installationId !== installationId || !isWithin) continue;
        kept.delete(rows);
        if (!isSameHistory(rows.runs, runs)) continue;
        const from = findFirstIndex(
          readings.length,
          (index) => (readings[index] as CounterReading).position > after,
        );
        const found = readings.slice(from, from + limit);
        const isRead = found.every(({ receivedAtMs }) => oldestMs === null || receivedAtMs >= oldestMs);
        if (found.length < limit || !isRead) return { readings: null, isContinued: true };
        kept.add(rows);
        return { readings: found, isContinued: true };
      }
      return { readings: null, isContinued: false };
    },
    keep: (rows: Rows) => {
      kept.add(rows);
      const [oldest] = kept;
      if (kept.size > clientsAheadMax && oldest !== undefined) kept.delete(oldest);
    },
  };
}
