import type { ObservationPage } from '../actors/views/views.ts';

/** Reads accepted readings of any age: the newest from memory, older ones from ClickHouse, without a seam. */
export interface ObservationReader {
  /**
   * At most `limit` readings of `installationId` above `afterPosition`, ascending. Answers at once if memory holds the page, otherwise with a
   * promise.
   *
   * @throws StorageUnavailable (as a rejection) when the page needs ClickHouse and it does not answer.
   */
  page(
    installationId: string,
    afterPosition: number,
    limit: number,
    signal: AbortSignal,
  ): ObservationPage | Promise<ObservationPage>;
}
