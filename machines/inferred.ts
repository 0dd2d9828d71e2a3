import type { z } from 'zod';

/** The output type of a schema, deeply read-only. */
export type Inferred<Schema extends z.ZodType> = ReadonlyDeep<z.infer<Schema>>;

/** Deeply read-only. Scalars are listed because the compiler would map a branded string like an object. */
export type ReadonlyDeep<Value> = Value extends string | number | bigint | boolean | null | undefined
  ? Value
  : { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> };
