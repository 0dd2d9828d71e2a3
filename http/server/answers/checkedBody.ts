import type { z } from 'zod';
import { compileGuard } from '../../../actors/schemas/compileSchema.ts';

/** Problems reported for one body; the first few say what is wrong. */
const problemsMax = 5;

class InvalidBody extends Error {
  override readonly name = 'InvalidBody';

  constructor(problems: readonly string[]) {
    super(`the body is invalid: ${problems.slice(0, problemsMax).join('; ')}`);
  }
}

/**
 * Creates the check that every body of a route passes, in production too. Only an invalid body is parsed again, to name its problems.
 *
 * @returns a function that throws InvalidBody.
 */
export function createBodyCheck(schema: z.ZodType): (body: unknown) => void {
  const isValid = compileGuard(schema);
  return (body) => {
    if (isValid(body)) return;
    const issues = schema.safeParse(body).error?.issues ?? [];
    throw new InvalidBody(issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
  };
}
