/** A fault that is put into the program: a text of a file, which is there once, and what it becomes. */
export interface Mutation {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** @returns path of the program. */
export function buildSimulator(options?: { mutation?: Mutation | null; name?: string }): Promise<string>;
