import { z } from 'zod';

type WithoutDefault<Schema> = Schema extends z.ZodDefault<infer Inner> ? Inner : Schema;

/**
 * Members of a value that was read from a message. A message may lack a member that a later version has added; the value has its default,
 * so a state without the member is not accepted.
 */
export function withoutDefaults<Shape extends z.ZodRawShape>(
  shape: Shape,
): { readonly [Name in keyof Shape]: WithoutDefault<Shape[Name]> } {
  const members = Object.entries(shape).map(
    ([name, schema]) => [name, schema instanceof z.ZodDefault ? schema.unwrap() : schema] as const,
  );
  // Each member has the type that the signature says.
  return Object.fromEntries(members) as { readonly [Name in keyof Shape]: WithoutDefault<Shape[Name]> };
}
