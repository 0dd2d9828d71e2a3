import { readRetryAfter, spreadDelay } from './spreadDelay.ts';

/** `busy`: the service asks to wait; `gone`: it refuses the page; `lost`: it is not reached. */
export type Connection = 'live' | 'busy' | 'gone' | 'lost';

interface RefresherOptions {
  /** Takes over a newer version of the page. */
  readonly apply: (html: string) => void;
  readonly onConnection: (connection: Connection) => void;
  /** Called with the service's time, as in the `Date` of an answer. */
  readonly onServiceTime: (date: string) => void;
  readonly intervalMs: () => number;
}

/** Without `Retry-After` the wait doubles from the first bound to the last. */
const retryBounds = { firstMs: 2_000, longestMs: 60_000 };
const requestTimeoutMs = 15_000;
/** Wait between an event and the next request: events often arrive several at once, and in many pages. */
const settleMs = 1_500;

/** Asks for the page again, with its tag, and waits as `Retry-After` says. */
export function createRefresher({ apply, onConnection, onServiceTime, intervalMs }: RefresherOptions) {
  let tag: string | null = null;
  let askedAtMs = Date.now();
  let expiresAtMs = Number.POSITIVE_INFINITY;
  let notBeforeMs = 0;
  let failures = 0;
  let isUnderWay = false;

  async function ask() {
    if (isUnderWay) return;
    isUnderWay = true;
    // An event may come before the answer, and change what was asked for.
    askedAtMs = Date.now();
    expiresAtMs = Number.POSITIVE_INFINITY;
    let response: Response | null = null;
    try {
      const answer = await request(location.href, tag);
      response = answer.response;
      onServiceTime(response.headers.get('Date') ?? '');
      if (response.status !== 304) {
        if (!response.ok) throw new Error(`the page was answered with ${response.status}`);
        apply(answer.html);
        tag = response.headers.get('ETag');
      }
      failures = 0;
      onConnection('live');
    } catch {
      failures += 1;
      notBeforeMs = Date.now() + spreadDelay(failures, retryBounds, readRetryAfter(response));
      onConnection(nameFailure(response));
    } finally {
      isUnderWay = false;
    }
  }

  function isDue(nowMs: number): boolean {
    if (failures > 0) return nowMs >= notBeforeMs;
    // A clock that was set back must not stop the page.
    return Math.abs(nowMs - askedAtMs) >= intervalMs() || nowMs >= expiresAtMs;
  }

  return {
    /** Called every second. Asks if it is time. */
    tick: () => {
      if (isDue(Date.now())) void ask();
    },
    /** Asks soon: once, however often it is called meanwhile. */
    expire: () => {
      expiresAtMs = Math.min(expiresAtMs, Date.now() + settleMs * (1 + Math.random()));
    },
    /** Asks at once, for instance when the network is back. */
    ask: () => void ask(),
  };
}

/** An answer with its text, which is empty if the page has not changed. All of it has to come within the deadline. */
async function request(address: string, tag: string | null) {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), requestTimeoutMs);
  try {
    const response = await fetch(address, {
      // The browser's cache would hide whether something has changed.
      cache: 'no-store',
      credentials: 'omit',
      headers: { Accept: 'text/html', ...(tag !== null && { 'If-None-Match': tag }) },
      signal: deadline.signal,
    });
    return { response, html: await response.text() };
  } finally {
    clearTimeout(timer);
  }
}

function nameFailure(response: Response | null): Connection {
  if (response === null) return 'lost';
  return response.status === 429 || response.status >= 500 ? 'busy' : 'gone';
}
