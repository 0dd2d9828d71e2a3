import type { z } from 'zod';
import { compileCheck } from '../../actors/schemas/compileCheck.ts';

/** Problems that are told of one body; the first ones say what is wrong. */
const problemsMax = 5;

/** A body that its schema refuses: it never leaves. */
export class RefusedBody extends Error {
  override readonly name = 'RefusedBody';

  constructor(problems: readonly string[]) {
    super(`the body does not fit its schema: ${problems.slice(0, problemsMax).join('; ')}`);
  }
}

/**
 * The check of every body of a route. The schema is compiled: in production too nothing leaves that it refuses, and zod is asked
 * only what is wrong.
 *
 * @returns throws RefusedBody.
 */
export function createBodyCheck(schema: z.ZodType): (body: unknown) => void {
  const fits = compileCheck(schema);
  return (body) => {
    if (fits(body)) return;
    const issues = schema.safeParse(body).error?.issues ?? [];
    throw new RefusedBody(issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
  };
}
