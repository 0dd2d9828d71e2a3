import type { ChainState } from '../chain/state/chainState.ts';
import type { OwnerEvent } from '../chain/state/ownerState.ts';
import type { Arrival } from '../events/arrival.ts';
import type { EvictedEvents } from '../events/eventWindow.ts';
import type { EventRow } from '../feed/eventRows.ts';
import type { FeedPlace, FeedSource, StoredCategory } from '../feed/feedItem.ts';
import type { SourcePlace } from '../feed/feedPosition.ts';
import type { CounterReading } from '../wheel/counterReading.ts';

/** Older records cannot be read at the moment: their store does not answer. The caller may try again after `retryAfterSeconds`. */
export class StoreUnavailable extends Error {
  override readonly name: string = 'StoreUnavailable';
  readonly retryAfterSeconds = 2;
}

/** The store cannot read older records: a file is damaged, cut short or missing. Trying again does not help. */
export class RecordsDamaged extends StoreUnavailable {
  override readonly name = 'RecordsDamaged';
}

/** The store lacks a table: it is new, or is being emptied, restored or migrated. */
export class TableMissing extends StoreUnavailable {}

/** One page of accepted readings, in ascending order of position. */
export interface ObservationPage {
  readonly items: readonly CounterReading[];
  /** Whether another item follows this page. */
  readonly more: boolean;
}

/** Reads accepted readings of any age, without a seam between those in memory and older ones. */
export interface ObservationReader {
  /**
   * At most `limit` readings of `installationId` above `afterPosition`, ascending. Answers at once if memory holds the page, otherwise with a
   * promise.
   *
   * @throws StoreUnavailable (as a rejection) if the page needs older readings and their store does not answer.
   */
  page(
    installationId: string,
    afterPosition: number,
    limit: number,
    signal: AbortSignal,
  ): ObservationPage | Promise<ObservationPage>;
}

/** A source with evicted events. Stored events may be read up to the newest evicted one. */
export interface EvictedSource {
  readonly source: FeedSource;
  readonly evicted: EvictedEvents & { readonly through: Arrival };
}

/**
 * Reads evicted events. The cost of a read hardly depends on their number.
 * Calls reject with StoreUnavailable if their store does not answer, or does not hold all of the events in time.
 */
export interface OlderEvents {
  /** Events with one of the keys (`eventKeys.ts`) below a place of the feed, newest first; the newest events for null. */
  before(
    from: EvictedSource,
    query: {
      readonly keys: readonly string[];
      readonly place: FeedPlace | null;
      /** First time of recording (epoch milliseconds); null for any. */
      readonly fromMs: number | null;
      readonly limit: number;
    },
    signal: AbortSignal,
  ): Promise<readonly EventRow[]>;
  /** Events that arrived after the event at a place, oldest first; all for null. Null if the event is not there. */
  after(
    from: EvictedSource,
    query: {
      readonly categories: readonly StoredCategory[];
      readonly place: SourcePlace | null;
      readonly limit: number;
    },
    signal: AbortSignal,
  ): Promise<readonly EventRow[] | null>;
}

export interface ActivityRange {
  readonly owner: string;
  /** Number of the first event. */
  readonly from: number;
  /** Number after the last event. */
  readonly end: number;
  /** Sequence of the message that made the state's block safe. Events of later messages do not belong to the state. */
  readonly throughPosition: number;
}

/** Reads evicted events of owners. The cost of a read hardly depends on the number of stored events. */
export interface OlderActivity {
  /**
   * All events of a range, oldest first.
   * Rejects with StoreUnavailable if their store does not answer, or does not hold all of them in time.
   */
  read(range: ActivityRange, signal: AbortSignal): Promise<readonly OwnerEvent[]>;
  /** The events of a transaction that are rows in a state, in any order; those that two owners share come twice. Rejects like `read`. */
  ofTransaction(
    transactionHash: string,
    state: Pick<ChainState, 'activityProgress' | 'position'>,
    signal: AbortSignal,
  ): Promise<readonly OwnerEvent[]>;
}

/**
 * Reads the work of the observed rounds of an installation's universal day (its start in epoch milliseconds) from rows, by place in the day. Rejects
 * with StoreUnavailable if their store does not answer, or has fewer than `observed` rounds: a replica may be ahead of the rows.
 */
export type ReadOlderDay = (
  installationId: string,
  { startMs, observed }: { readonly startMs: number; readonly observed: number },
  signal: AbortSignal,
) => Promise<ReadonlyMap<number, bigint>>;
