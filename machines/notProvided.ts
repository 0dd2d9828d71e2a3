/** Placeholder for the work, guards and actions that whoever runs a machine has to provide. */
export function notProvided(): never {
  throw new Error('an implementation that the machine needs is not provided');
}
