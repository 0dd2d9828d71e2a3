import type { HttpRequest } from 'uWebSockets.js';
import type { Clock } from '../../../actors/clock.ts';
import { decodePercent } from '../../addresses/recordPaths.ts';
import type { Route, RouteSources } from '../../routes/route.ts';
import type { Transport } from '../engine/uws.ts';
import { createBodyCheck } from './checkedBody.ts';
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

export type Answer = (exchange: Exchange, request: HttpRequest) => void;

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

/** The value of the path's parameter; empty if the path has none, null if the route refuses the value. */
export function parsePathValue({ pathParameter }: Route, segment: string): string | null {
  return pathParameter === null ? '' : pathParameter.parse(decodePercent(segment));
}
