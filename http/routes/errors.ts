/** An error response: its status line, and its code in `{error}` (CONTRACT.md, Errors). */
export interface HttpError {
  readonly status: string;
  readonly code: ErrorCode;
  readonly retryAfterSeconds?: number;
}

export type ErrorCode = keyof typeof errorStatus;

/** Every error code that this service sends, with its status, its cause and what a client should do. */
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
    meaning: 'The cursor cannot be decoded, or belongs to another list: restart from the first page.',
  },
  invalid_token_id: {
    status: '400 Bad Request',
    meaning: 'The token ID is not a canonical decimal from 1 to 9999: correct the request.',
  },
  invalid_address: {
    status: '400 Bad Request',
    meaning: 'The owner is malformed, has a wrong checksum, or is the zero address: correct the request.',
  },
  invalid_path: {
    status: '400 Bad Request',
    meaning:
      'The number, hash, date or ID at the end of the path does not have the form that the reference names: correct the request.',
  },
  cors_origin_not_allowed: {
    status: '403 Forbidden',
    meaning:
      'A browser on a website that is not approved: call from a server, or have the operator approve the origin.',
  },
  not_found: {
    status: '404 Not Found',
    meaning: 'No such endpoint or record, or a method other than GET and HEAD: correct the request.',
  },
  cursor_invalidated: {
    status: '409 Conflict',
    meaning: 'The state at the cursor’s block is no longer retained: restart from the first page.',
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
      'Too much work at the moment, such as expensive requests: wait Retry-After seconds, then retry with backoff.',
  },
  database_unavailable: {
    status: '503 Service Unavailable',
    meaning:
      'State is not restored yet, the cursor’s block is not safe yet in this process, or the database does not answer: wait Retry-After seconds, then retry with backoff.',
  },
  public_stats_rebuilding: {
    status: '503 Service Unavailable',
    meaning: 'Statistics are being rebuilt, so the history is not empty: wait Retry-After seconds.',
  },
  request_timeout: {
    status: '504 Gateway Timeout',
    meaning: 'The request took too long: retry with backoff.',
  },
} as const;

/** `Link` (RFC 8288) to the page that explains an error. */
export function helpLink(code: ErrorCode): readonly [name: 'Link', value: string] {
  return ['Link', `</docs/errors#${code}>; rel="help"`];
}

export function createHttpError(code: ErrorCode, retryAfterSeconds?: number): HttpError {
  const { status } = errorStatus[code];
  return retryAfterSeconds === undefined ? { status, code } : { status, code, retryAfterSeconds };
}

/** Whether the same request may be answered later. Other errors are of the request itself. */
export function isPassing(code: ErrorCode): boolean {
  const status = Number(errorStatus[code].status.slice(0, 3));
  return status === 429 || status >= 500;
}
