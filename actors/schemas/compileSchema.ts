import { z } from 'zod';
import { once } from '../caching/once.ts';

/** A schema that zod has compiled at the first use, since most processes use only some of the schemas. */
export interface CompiledSchema<Schema extends z.ZodType> {
  readonly schema: Schema;
  /**
   * Whether a value fits, without a copy, and at the cost of its first misfit. A value that fits may lack members that have a default, so its
   * type is the schema's input.
   */
  readonly fits: (value: unknown) => value is z.input<Schema>;
  /** The output of the schema for a value that fits: a copy, with defaults, and without members that the schema does not name. */
  readonly read: (value: unknown) => z.output<Schema>;
}

export function compileSchema<Schema extends z.ZodType>(schema: Schema): CompiledSchema<Schema> {
  const compiled = once(() => z.compile(schema));
  return {
    schema,
    fits: (value): value is z.input<Schema> => compiled().validate(value),
    read: (value) => compiled().parse(value),
  };
}

/** A schema as a predicate that makes no copy, since nearly all of many millions of values fit and are used unchanged. */
export function compileGuard<Schema extends z.ZodType>(schema: Schema): CompiledSchema<Schema>['fits'] {
  return compileSchema(schema).fits;
}
