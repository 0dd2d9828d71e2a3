import { z } from 'zod';

/**
 * A schema as a predicate that makes no copy, since nearly all of many millions of values fit and are used unchanged. zod compiles the
 * schema at the first call, since most processes use only some of the schemas.
 */
export function compileGuard<Schema extends z.ZodType>(
  schema: Schema,
): (value: unknown) => value is z.output<Schema> {
  let compiled: Schema | null = null;
  return (value): value is z.output<Schema> => {
    compiled ??= z.compile(schema);
    return compiled.validate(value);
  };
}
