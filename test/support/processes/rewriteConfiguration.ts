export type Replacement = readonly [from: string | RegExp, to: string];

/** A reference configuration with what a test has to change; each of these has to be in it, so that none is changed without notice. */
export function rewriteConfiguration(configuration: string, replacements: readonly Replacement[]): string {
  return replacements.reduce((before, [from, to]) => {
    const changed = before.replaceAll(from, to);
    if (changed === before) throw new Error(`the configuration has no ${from}`);
    return changed;
  }, configuration);
}
