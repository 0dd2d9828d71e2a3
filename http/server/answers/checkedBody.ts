import type { z } from 'zod';
import { compileGuard } from '../../../actors/schemas/compileGuard.ts';

/** Problems that are reported of one body; the first ones say what is wrong. */
const problemsMax = 5;

class InvalidBody extends Error {
  override readonly name = 'InvalidBody';

  constructor(problems: readonly string[]) {
    super(`the body is invalid: ${problems.slice(0, problemsMax).join('; ')}`);
  }
}

/**
 * The check of every body of a route, in production too. Only an invalid body is read twice, to say what is wrong with it.
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
