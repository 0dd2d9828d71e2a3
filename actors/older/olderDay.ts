/**
 * Reads the work of the observed rounds of an installation's universal day (its start in epoch milliseconds) from rows, by place in the day. Rejects
 * with RecordsUnavailable if their store does not answer.
 */
export type ReadOlderDay = (
  installationId: string,
  startMs: number,
  signal: AbortSignal,
) => Promise<ReadonlyMap<number, bigint>>;
