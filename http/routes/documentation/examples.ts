import recorded from './examples.json' with { type: 'json' };

export interface BodyExamples {
  readonly answer: unknown;
  readonly unavailable?: unknown;
}

export interface Examples {
  readonly bodies: Readonly<Record<string, BodyExamples>>;
  readonly eventStream: string;
}

/** Recorded by `npm run examples`. */
export const examples: Examples = recorded;
