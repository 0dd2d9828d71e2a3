/** ClickHouse did not answer, or lacks a table at the moment. The caller may try again after `retryAfterSeconds`. */
export class StorageUnavailable extends Error {
  override readonly name: string = 'StorageUnavailable';
  readonly retryAfterSeconds = 2;
}

/** ClickHouse cannot read its stored data: a file is damaged, cut short or missing. Trying again does not help. */
export class StorageDamaged extends StorageUnavailable {
  override readonly name = 'StorageDamaged';
}
