/** ClickHouse did not answer. The caller may try again after `retryAfterSeconds`. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
  readonly retryAfterSeconds = 2;

  constructor(message: string, options?: { cause: unknown }) {
    super(message, options);
  }
}
