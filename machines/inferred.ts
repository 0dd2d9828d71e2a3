import type { z } from 'zod';

/** What a schema accepts, and nobody changes afterwards. */
export type Inferred<Schema extends z.ZodType> = ReadonlyDeep<z.infer<Schema>>;

/** A value that nothing changes. A branded string is an object to the compiler. */
export type ReadonlyDeep<Value> = Value extends string | number | bigint | boolean | null | undefined
  ? Value
  : { readonly [Key in keyof Value]: ReadonlyDeep<Value[Key]> };
