/** A transition whose event carries an error: an invoked actor failed, or the event reports a failure. */
interface Failure {
  readonly event: { readonly error: unknown };
}

export function passError({ event }: Failure): { readonly error: unknown } {
  return { error: event.error };
}

/** Parameters of an action that keeps the error as the reason why the machine ends. */
export function passErrorAsFault({ event }: Failure): { readonly fault: unknown } {
  return { fault: event.error };
}

/** Parameters of a guard that tests whether the error is this fault. */
export function passFault<Fault extends string>(fault: Fault) {
  return ({ event }: Failure): { readonly error: unknown; readonly fault: Fault } => ({
    error: event.error,
    fault,
  });
}
