import { createHash } from 'node:crypto';

/** What a state depends on besides the messages: only a fold with the same identity can use it. */
export interface FoldIdentity {
  readonly foldVersion: number;
  /** Digest of everything in the deployment that the fold depends on. */
  readonly configuration: string;
}

/** The identity of a fold with these settings: their names and values, in any order. */
export function identifyFold(
  foldVersion: number,
  settings: Readonly<Record<string, string | number | bigint>>,
): FoldIdentity {
  const sorted = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = sorted.map(([name, value]) => `${name}=${JSON.stringify(String(value))}`);
  return { foldVersion, configuration: createHash('sha256').update(lines.join('\n')).digest('hex') };
}

/** Whether a state of identity `one` is of use to a fold. */
export function isOfFold(one: FoldIdentity, { foldVersion, configuration }: FoldIdentity): boolean {
  return one.foldVersion === foldVersion && one.configuration === configuration;
}
