import { readRetryAfter } from '../../client/retryAfter.ts';
import { spreadDelay } from '../../client/spreadDelay.ts';
import { intervalsMs } from '../resources.ts';
import type { Channel, Message } from './channel.ts';
import type { Entry, Store } from './store.ts';

interface Poller {
  tick(): void;
  /** Handles a message of another tab: answers its question, or stores its resource. */
  receive(message: Message): void;
  /** Reads matching resources again soon: once, however often it is called meanwhile. */
  expire(isExpired: (entry: Entry) => boolean): void;
  readAll(): Promise<void>;
  readPage(path: string, cursor: string): Promise<unknown>;
}

interface PollerOptions {
  readonly store: Store;
  readonly channel: Channel;
  readonly isHidden: () => boolean;
  /** Whether another tab of this browser is likely to read first and share the result. */
  readonly isFollower: () => boolean;
  /** Called with the service's time, from a body's `generatedAt`. */
  readonly onServiceTime: (generatedAt: string) => void;
}

const second = 1_000;
/** Without `Retry-After` the wait doubles from the first bound to the last. */
const retryBounds = { firstMs: 2 * second, longestMs: 60 * second };
/** A hidden tab reads only the status, which its icon and title show. */
const hiddenStatusMs = 60 * second;
/** Additional wait of a tab that follows another one. It reads by itself only if nothing was shared. */
const followerDelayMs = 2 * second;
const requestTimeoutMs = 15 * second;
/** Wait between an event and the read of what it changed: events often arrive several at once. */
const settleMs = 1_500;

interface Attempt {
  isUnderWay: boolean;
  failures: number;
  /** Earliest time of the next read; 0 if it may be read at once. */
  notBeforeMs: number;
  /** Time at which it is read even if its interval has not passed, unless it was read since. */
  expiresAtMs: number;
}

/** Reads the resources of the store at their intervals, with conditional requests, and waits as `Retry-After` says. */
export function createPoller(options: PollerOptions): Poller {
  const { store, channel, isHidden, isFollower, onServiceTime } = options;
  const attempts = new Map<string, Attempt>();

  function findAttempt(path: string): Attempt {
    const attempt = attempts.get(path) ?? {
      isUnderWay: false,
      failures: 0,
      notBeforeMs: 0,
      expiresAtMs: 0,
    };
    attempts.set(path, attempt);
    return attempt;
  }

  function isDue({ name, path, readAtMs, isExtended }: Entry): boolean {
    const { isUnderWay, notBeforeMs, expiresAtMs } = findAttempt(path);
    const nowMs = Date.now();
    if (isUnderWay || isExtended || nowMs < notBeforeMs) return false;
    if (isHidden()) return name === 'status' && nowMs - readAtMs >= hiddenStatusMs;
    // A clock that was set back must not stop the page.
    const ageMs = Math.abs(nowMs - readAtMs);
    const delayMs = isFollower() && readAtMs > 0 ? followerDelayMs : 0;
    return ageMs >= intervalsMs[name] + delayMs || (readAtMs < expiresAtMs && nowMs >= expiresAtMs + delayMs);
  }

  async function readEntry(entry: Entry): Promise<void> {
    const { path } = entry;
    const attempt = findAttempt(path);
    attempt.isUnderWay = true;
    // An event may come before the answer, and change what was asked for.
    const readAtMs = Date.now();
    try {
      const response = await request(path, entry.etag);
      const isKnown = response.status === 304;
      if (!isKnown && !response.ok) return await fail(entry, attempt, response);
      const read = isKnown ? entry : await readBody(entry, response);
      Object.assign(attempt, { failures: 0, notBeforeMs: 0 });
      // Newer than the answer are an event, a further page or another tab's answer that arrived meanwhile.
      if (store.find(path) !== entry) return;
      const current = { ...read, readAtMs, resource: { body: read.resource.body, problem: null } };
      store.put(current);
      share(current, isKnown);
    } catch {
      await fail(entry, attempt, null);
    } finally {
      attempt.isUnderWay = false;
    }
  }

  async function readBody(entry: Entry, response: Response): Promise<Entry> {
    const body: unknown = await response.json();
    if (entry.name === 'status') onServiceTime((body as { generatedAt: string }).generatedAt);
    return { ...entry, etag: response.headers.get('ETag'), resource: { body, problem: null } };
  }

  function share({ name, path, etag, readAtMs, resource: { body } }: Entry, isKnown: boolean) {
    channel.post({
      kind: 'resource',
      name,
      path,
      etag,
      readAtMs,
      ...(isKnown && etag !== null ? {} : { body }),
    });
  }

  async function fail(entry: Entry, attempt: Attempt, response: Response | null) {
    const code = response === null ? '' : await readCode(response);
    attempt.failures += 1;
    const askedMs = readRetryAfter(response) ?? 0;
    attempt.notBeforeMs = Date.now() + spreadDelay(attempt.failures, retryBounds, askedMs);
    if (store.find(entry.path) !== entry) return;
    const problem = { status: response?.status ?? 0, code, retryAtMs: attempt.notBeforeMs };
    store.put({ ...entry, resource: { body: entry.resource.body, problem } });
  }

  async function readAll(): Promise<void> {
    await Promise.all([...store.shown()].filter(isDue).map(readEntry));
  }

  return {
    tick: () => void readAll(),
    readAll,
    receive: (message) => {
      if (message.kind === 'wanted') {
        for (const path of message.paths) {
          const entry = store.find(path);
          if (entry !== undefined && entry.resource.body !== null) share(entry, false);
        }
      }
      if (message.kind !== 'resource') return;
      const entry = store.find(message.path);
      if (entry === undefined || entry.isExtended || message.readAtMs <= entry.readAtMs) return;
      const isSame = message.body === undefined;
      if (isSame && message.etag !== entry.etag) return;
      const body = isSame ? entry.resource.body : message.body;
      store.put({
        ...entry,
        etag: message.etag,
        readAtMs: message.readAtMs,
        resource: { body, problem: null },
      });
    },
    expire: (isExpired) => {
      for (const entry of store.shown()) {
        const attempt = findAttempt(entry.path);
        if (!isExpired(entry) || entry.readAtMs < attempt.expiresAtMs) continue;
        attempt.expiresAtMs = Date.now() + settleMs * (1 + Math.random());
      }
    },
    readPage: async (path, cursor) => {
      const separator = path.includes('?') ? '&' : '?';
      const response = await request(`${path}${separator}cursor=${encodeURIComponent(cursor)}`, null);
      if (!response.ok) throw new Error(`a further page answered with ${response.status}`);
      return response.json();
    },
  };
}

function request(path: string, etag: string | null): Promise<Response> {
  return fetch(path, {
    // The store keeps the tag: the browser's cache would hide whether something has changed.
    cache: 'no-store',
    credentials: 'omit',
    headers: etag === null ? {} : { 'If-None-Match': etag },
    signal: AbortSignal.timeout(requestTimeoutMs),
  });
}

/** Code of an error (CONTRACT.md, Errors); empty for an answer from a proxy. */
async function readCode(response: Response): Promise<string> {
  try {
    const body: unknown = await response.json();
    return typeof body === 'object' && body !== null && 'error' in body ? String(body.error) : '';
  } catch {
    return '';
  }
}
