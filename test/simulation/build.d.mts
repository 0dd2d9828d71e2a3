/** Replaces a text that stands once in a file. */
export interface Replacement {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A fault to put into the program. */
export interface Mutation {
  readonly what: string;
  readonly replacements: readonly Replacement[];
  /** Creates the circumstances that the fault needs, if seeds draw them too rarely. */
  readonly plan?: object | undefined;
  /** The seed or plan that found it, and the check. */
  readonly found?: string | undefined;
}

/** Options of Node.js for the simulator. */
export const nodeOptions: readonly string[];

/** @returns path of the program. */
export function buildSimulator(options?: { mutation?: Mutation | null; name?: string }): Promise<string>;
