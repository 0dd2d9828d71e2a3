/** Stands for work, guards and actions of a machine that whoever runs it has to provide. */
export function notProvided(): never {
  throw new Error('a part of the machine that is needed is not provided');
}
