import { createHash } from 'node:crypto';

/**
 * Identifies everything except the messages that a fold's state depends on. Only a fold with the same identity can use the state. The number of
 * places for installations is left out: it decides about later messages only, and raising it must not need a rebuild.
 */
export interface FoldIdentity {
  readonly foldVersion: number;
  /** Digest of everything in the deployment that the fold depends on. */
  readonly configuration: string;
}

/** Identity of a fold with these settings, regardless of their order. */
export function identifyFold(
  foldVersion: number,
  settings: Readonly<Record<string, string | number | bigint>>,
): FoldIdentity {
  const sorted = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = sorted.map(([name, value]) => `${name}=${JSON.stringify(String(value))}`);
  return { foldVersion, configuration: createHash('sha256').update(lines.join('\n')).digest('hex') };
}

/** Whether a fold can use a state of identity `one`. */
export function isOfFold(one: FoldIdentity, { foldVersion, configuration }: FoldIdentity): boolean {
  return one.foldVersion === foldVersion && one.configuration === configuration;
}
