/** Older records cannot be read at the moment: their store does not answer. The caller may try again after `retryAfterSeconds`. */
export class RecordsUnavailable extends Error {
  override readonly name: string = 'RecordsUnavailable';
  readonly retryAfterSeconds = 2;
}

/** The store cannot read older records: a file is damaged, cut short or missing. Trying again does not help. */
export class RecordsDamaged extends RecordsUnavailable {
  override readonly name = 'RecordsDamaged';
}
