/** A change of a source: a text of a file, which is there once, and what it becomes. */
export interface Replacement {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A fault that is put into the program. */
export interface Mutation {
  readonly what: string;
  readonly replacements: readonly Replacement[];
  /** One that has the circumstances often that it needs; none where seeds draw them often enough. */
  readonly plan?: object;
  /** Why no seed finds it, where none does. */
  readonly reason?: string;
}

/** How the program is run. */
export const nodeOptions: readonly string[];

/** @returns path of the program. */
export function buildSimulator(options?: { mutation?: Mutation | null; name?: string }): Promise<string>;
