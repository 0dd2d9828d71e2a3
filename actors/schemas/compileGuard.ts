import { z } from 'zod';

/**
 * A schema as a predicate that makes no copy: nearly all of many millions of messages and bodies fit, and are used as they are. zod compiles it when it is first
 * called, since most processes ask only some of their schemas.
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
