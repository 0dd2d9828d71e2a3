interface Refusal {
  readonly url: string;
  readonly status: number;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly retryAfterMs: number | null;
}

/** The service answered with an error: a status from 400 on. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  /** Of the response, such as 429. */
  readonly status: number;
  /** What is wrong, such as `rate_limited`; null where something between here and the service answered. */
  readonly code: string | null;
  /** Names the request in the service's log; null where there is none. */
  readonly requestId: string | null;
  /** Milliseconds that the service asks to wait for; null where it does not. */
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

/** What a later attempt may get past: too many requests, and a service or a proxy that cannot answer at the moment. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export function mayPass(error: unknown): boolean {
  // `fetch` fails with a TypeError where nothing answers.
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
    retryAfterMs: readRetryAfter(headers.get('Retry-After')),
  });
}

function readRetryAfter(value: string | null): number | null {
  return value !== null && /^\d+$/.test(value) ? Number(value) * 1_000 : null;
}
