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
  /** The check that finds it. */
  readonly check: string;
  /** Name of the plan that finds it (`mutationPlans.ts`), unless a kept plan does. */
  readonly plan: string | undefined;
}

/** Options of Node.js for the simulator. */
export const nodeOptions: readonly string[];

/** @returns path of the program. */
export function buildSimulator(options?: { mutation?: Mutation | null; name?: string }): Promise<string>;
