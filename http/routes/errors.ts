/** An answer that is not 200: its status line, and its code in `{error}` (CONTRACT.md, Errors). */
export interface HttpError {
  readonly status: string;
  readonly code: ErrorCode;
  readonly retryAfterSeconds?: number;
}

export type ErrorCode = keyof typeof errorStatus;

/** Every error code of the contract that this service answers, with its status, its cause and what a client does about it. */
export const errorStatus = {
  invalid_query: {
    status: '400 Bad Request',
    meaning: 'A parameter is missing, malformed, repeated or unknown: correct the request.',
  },
  invalid_installation_id: {
    status: '400 Bad Request',
    meaning: 'The installation ID is not 1-128 characters of A-Z a-z 0-9 . _ : - (correct the request).',
  },
  invalid_cursor: {
    status: '400 Bad Request',
    meaning: 'The cursor cannot be decoded, or is of another list: restart from the first page.',
  },
  invalid_token_id: {
    status: '400 Bad Request',
    meaning: 'The token ID is not a canonical decimal from 1 to 9999: correct the request.',
  },
  invalid_address: {
    status: '400 Bad Request',
    meaning:
      'The owner is not an address: malformed, with a wrong checksum, or the zero address: correct the request.',
  },
  cors_origin_not_allowed: {
    status: '403 Forbidden',
    meaning:
      'A browser on a website that is not approved: call from a server, or have the operator approve the origin.',
  },
  not_found: {
    status: '404 Not Found',
    meaning: 'No such endpoint, or another method than GET and HEAD: correct the path.',
  },
  cursor_invalidated: {
    status: '409 Conflict',
    meaning: 'The block that the cursor was issued at is not held any more: restart from the first page.',
  },
  rate_limited: {
    status: '429 Too Many Requests',
    meaning: 'Over the rate limit: wait Retry-After seconds.',
  },
  internal_error: {
    status: '500 Internal Server Error',
    meaning: 'Unexpected failure: report the X-Request-Id.',
  },
  database_busy: {
    status: '503 Service Unavailable',
    meaning:
      'Too many requests that cost much at the moment: wait Retry-After seconds, then retry with backoff.',
  },
  database_unavailable: {
    status: '503 Service Unavailable',
    meaning:
      'State is not restored yet, the block of a cursor is not safe yet here, or the database that is needed does not answer: wait Retry-After seconds, then retry with backoff.',
  },
  public_stats_rebuilding: {
    status: '503 Service Unavailable',
    meaning: 'Statistics are being rebuilt, which is no empty history: wait Retry-After seconds.',
  },
  request_timeout: {
    status: '504 Gateway Timeout',
    meaning: 'The request took too long: retry with backoff.',
  },
} as const;

/** Where each of them is explained, as a value of `Link` (RFC 8288). */
export const helpLinks = Object.fromEntries(
  Object.keys(errorStatus).map((code) => [code, `</docs/errors#${code}>; rel="help"`]),
) as Record<ErrorCode, string>; // Of the same keys, which the type of `fromEntries` does not keep.

export function createHttpError(code: ErrorCode, retryAfterSeconds?: number): HttpError {
  const { status } = errorStatus[code];
  return retryAfterSeconds === undefined ? { status, code } : { status, code, retryAfterSeconds };
}
