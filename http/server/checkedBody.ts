import type { z } from 'zod';
import { compileCheck } from '../../actors/schemas/compileCheck.ts';

/** Problems that are reported of one body; the first ones say what is wrong. */
const problemsMax = 5;

/** A body that its schema rejects: it is never sent. */
export class InvalidBody extends Error {
  override readonly name = 'InvalidBody';

  constructor(problems: readonly string[]) {
    super(`the body is invalid: ${problems.slice(0, problemsMax).join('; ')}`);
  }
}

/**
 * The check of every body of a route, in production too. The schema is compiled; zod only says what is wrong with an
 * invalid body.
 *
 * @returns a function that throws InvalidBody.
 */
export function createBodyCheck(schema: z.ZodType): (body: unknown) => void {
  const isValid = compileCheck(schema);
  return (body) => {
    if (isValid(body)) return;
    const issues = schema.safeParse(body).error?.issues ?? [];
    throw new InvalidBody(issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
  };
}
