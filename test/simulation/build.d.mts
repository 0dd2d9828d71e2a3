/** A change of a source: a text of a file, which is there once, and what it becomes. */
export interface Replacement {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** @returns path of the program. */
export function buildSimulator(options?: { mutation?: Replacement | null; name?: string }): Promise<string>;
