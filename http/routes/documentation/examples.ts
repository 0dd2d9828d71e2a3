import recorded from './examples.json' with { type: 'json' };

/** Answers of a body's schema. */
export interface BodyExamples {
  readonly answer: unknown;
  /** Where the body may say that it is unavailable. */
  readonly unavailable?: unknown;
}

/** Answers that services gave, for the documentation. */
export interface Examples {
  /** By the name of the schema. */
  readonly bodies: Readonly<Record<string, BodyExamples>>;
  /** What an event stream begins with. */
  readonly eventStream: string;
}

/** Recorded by `npm run examples`. */
export const examples: Examples = recorded;
