/** What a transition knows after a failure of what it invoked, or of an event that carries one. */
interface Failure {
  readonly event: { readonly error: unknown };
}

export function passError({ event }: Failure): { readonly error: unknown } {
  return { error: event.error };
}

/** Parameters of an action that keeps a failure as the reason of the end. */
export function passErrorAsFault({ event }: Failure): { readonly fault: unknown } {
  return { fault: event.error };
}

/** Parameters of a guard that asks whether a failure is a certain fault. */
export function passFault<Fault extends string>(fault: Fault) {
  return ({ event }: Failure): { readonly error: unknown; readonly fault: Fault } => ({
    error: event.error,
    fault,
  });
}
