interface Refusal {
  readonly url: string;
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
}

/** The service answered with a status of 400 or above. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** Status of the response, such as 429. */
  readonly status: number;
  /** Error code, such as `rate_limited`; null if a proxy answered instead of the service. */
  readonly code: string | null;
  /** Name of the request in the service's log; null if the response has no ID. */
  readonly requestId: string | null;
  /** Milliseconds to wait, from `Retry-After`; null if the service does not ask for a delay. */
  readonly retryAfterMs: number | null;

  constructor({ url, status, code, requestId, retryAfterMs }: Refusal) {
    super(
      [`${url}: ${status}`, code ?? '', requestId === null ? '' : `(request ${requestId})`].join(' ').trim(),
    );
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Statuses that a later attempt may get past: too many requests, or no answer at the moment. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export function mayPass(error: unknown): boolean {
  // `fetch` fails with a TypeError if nothing answers.
  return error instanceof ServiceError ? passing.has(error.status) : error instanceof TypeError;
}

/** @throws ServiceError for a response that is neither a body nor 304. */
export async function requireOk(response: Response): Promise<void> {
  if (response.ok || response.status === 304) return;
  const { headers } = response;
  const body = (await response.json().catch(() => null)) as { readonly error?: unknown } | null;
  const code = typeof body?.error === 'string' ? body.error : null;
  throw new ServiceError({
    url: response.url,
    status: response.status,
    code,
    requestId: headers.get('X-Request-Id'),
    retryAfterMs: readRetryAfter(response),
  });
}

/** @returns milliseconds from `Retry-After`; null without one, or for a date, which proxies may send. */
export function readRetryAfter(response: Response | null): number | null {
  const value = response?.headers.get('Retry-After') ?? '';
  return /^\d+$/.test(value) ? Number(value) * 1_000 : null;
}
