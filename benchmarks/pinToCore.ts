/** The command line that runs a program on one core alone (Linux's `taskset`); as it is without one. */
export function pinToCore(
  core: number | undefined,
  command: readonly [string, ...string[]],
): [string, ...string[]] {
  return core === undefined ? [...command] : ['taskset', '-c', String(core), ...command];
}
