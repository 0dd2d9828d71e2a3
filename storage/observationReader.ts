import type { ObservationPage } from '../actors/views/views.ts';

/** Reads accepted readings of any age: the newest from memory, older ones from ClickHouse, without a seam. */
export interface ObservationReader {
  /**
   * Readings of `installationId` with a position above `afterPosition`, ascending, at most `limit` of them.
   * Answers at once where memory holds the page, else with a promise.
   *
   * @throws StorageUnavailable (as a rejection) when ClickHouse is needed and does not answer.
   */
  page(
    installationId: string,
    afterPosition: number,
    limit: number,
    signal: AbortSignal,
  ): ObservationPage | Promise<ObservationPage>;
}
