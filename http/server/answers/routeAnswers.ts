import type { HttpRequest } from 'uWebSockets.js';
import type { z } from 'zod';
import type { Clock } from '../../../actors/clock.ts';
import { compileGuard } from '../../../actors/schemas/compileSchema.ts';
import type { Route, RouteSources } from '../../routes/route.ts';
import type { Transport } from '../engine/uws.ts';
import type { ExchangeGuard } from './exchangeGuard.ts';
import type { HttpMetrics } from './httpMetrics.ts';
import { type PreparedResponse, prepareResponse, type ResponseHeaders } from './preparedResponse.ts';
import type { Exchange, ResponseWriter } from './responseWriter.ts';

export interface AnswerDependencies {
  readonly sources: RouteSources;
  readonly transport: Transport;
  readonly writer: ResponseWriter;
  readonly guard: ExchangeGuard;
  readonly metrics: HttpMetrics;
  readonly clock: Clock;
}

/** @param pathValue value of the path's parameter; empty if the path has none. */
export type Answer = (exchange: Exchange, request: HttpRequest, pathValue: string) => void;

/** `Retry-After` while state is being restored, or the database is unavailable. */
export const retryAfterSeconds = 2;

/** @returns a function that serializes a body, and throws InvalidBody if the body does not fit the route's schema. */
export function createPreparation(route: Route, metrics: HttpMetrics) {
  const check = createBodyCheck(route.response);
  return (body: unknown, headers: Omit<ResponseHeaders, 'contentType'>): PreparedResponse => {
    check(body);
    metrics.prepared();
    return prepareResponse(body, headers);
  };
}

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
