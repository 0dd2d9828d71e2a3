export type Replacement = readonly [from: string | RegExp, to: string];

/** Applies a test's replacements to a reference configuration. Throws if one does not match, so that none becomes void unnoticed. */
export function rewriteConfiguration(configuration: string, replacements: readonly Replacement[]): string {
  return replacements.reduce((before, [from, to]) => {
    const changed = before.replaceAll(from, to);
    if (changed === before) throw new Error(`the configuration has no ${from}`);
    return changed;
  }, configuration);
}
