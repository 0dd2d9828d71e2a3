import type { CounterReading } from '../wheel/counterReading.ts';

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
   * @throws RecordsUnavailable (as a rejection) if the page needs older readings and their store does not answer.
   */
  page(
    installationId: string,
    afterPosition: number,
    limit: number,
    signal: AbortSignal,
  ): ObservationPage | Promise<ObservationPage>;
}
