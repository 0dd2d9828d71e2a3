/** Placeholder for the actors and actions that the caller of a machine provides. */
export function notProvided(): never {
  throw new Error('an implementation that the machine needs is not provided');
}
