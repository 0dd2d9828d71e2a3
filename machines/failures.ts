import type { EventObject } from 'xstate';

/**
 * Meaning of an error to the machines. It stands in the error's property `kind`. An error without a kind may pass, or is a fault of the
 * program; each machine says which.
 */
export type ErrorKind =
  /** The stream differs from the folded one, so its state is restored again. */
  | 'diverged'
  /** The fold cannot continue from its state, so an older one is restored. */
  | 'olderSnapshotNeeded'
  /** Messages are missing, and the stream does not report their removal. They are awaited. */
  | 'gap'
  /** The stream does not exist, and may have to be created. */
  | 'missing'
  /** Another process holds the lease, so this one ends. */
  | 'leaseLost'
  /** No further attempt can succeed, so the process ends. */
  | 'unusable'
  /** Another indexer published first, so the stream is read again. */
  | 'lostRace'
  /** NATS failed, rather than the node. */
  | 'streamUnavailable'
  /** NATS or the fold would refuse the next span, so the indexer retries rarely. */
  | 'unpublishable';

/** The kind of an error; undefined for an error without one. */
export function readKind(error: unknown): ErrorKind | undefined {
  return Object(error).kind;
}

/** Guard of transitions whose event carries an error: an invoked actor failed, or the event reports a failure. */
export function hasKind(...kinds: readonly ErrorKind[]) {
  return ({ event }: { readonly event: EventObject & { readonly error?: unknown } }): boolean =>
    kinds.some((kind) => kind === readKind(event.error));
}

export function passError({ event }: { readonly event: { readonly error: unknown } }): {
  readonly error: unknown;
} {
  return { error: event.error };
}
