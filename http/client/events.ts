import { createParser } from 'eventsource-parser';
import { chooseDelayMs, sleep } from './attempts.ts';
import { parseDecimals } from './decimals.ts';
import type { Requester, RequestOptions } from './request.ts';
import { eventDecimals, type FeedEvent } from './responses.ts';
import { mayPass, requireOk } from './serviceError.ts';

export interface EventsOptions extends RequestOptions {
  readonly category?: 'all' | 'protocol' | 'players' | 'measurement';
  /** Begins after an event: a `position` from an earlier iteration, or the `id` of an event in the feed. By default only new events follow. */
  readonly after?: string;
  /** Begins with this many of the newest events in the feed (1-100), once it is available, then continues. Ignored if `after` is given. */
  readonly newest?: number;
  /** Called before a connection is replaced, with the error that ended it; null if the service closed it. */
  readonly onReconnect?: (error: unknown) => void;
}

export interface StreamedEvent {
  readonly event: FeedEvent;
  /** Resumes after this event if passed as `after`, also in another program. */
  readonly position: string;
}

const path = '/v1/events/stream';
/** The service sends a comment every 15 seconds. A connection without data for three times as long is dead. */
const silenceMaxMs = 45_000;

/**
 * Yields each event of the feed once, when it becomes visible. A connection that ends is replaced, and the next one continues after the last
 * received event.
 *
 * @throws TypeError if `after` is empty, such as a position from a file that was not written completely.
 */
export async function* streamEvents(
  requester: Requester,
  { signal, category, after, newest, onReconnect }: EventsOptions,
): AsyncGenerator<StreamedEvent, never> {
  if (after === '') throw new TypeError("after is '': expected the position of an event, or nothing");
  let position = after ?? null;
  const query = category === undefined ? {} : { category };
  if (newest !== undefined && after === undefined) {
    const oldest = await readOldest(requester, { ...query, limit: newest }, signal);
    if (oldest !== null) {
      position = oldest.id;
      yield { event: oldest, position };
    }
  }
  for (let failures = 0; ; ) {
    let cause: unknown = null;
    try {
      for await (const message of connect(requester, query, position, signal)) {
        failures = 0;
        position = message.id;
        if (message.event !== null) yield { event: message.event, position };
      }
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (!mayPass(error) && !(error instanceof ConnectionLost)) throw error;
      cause = error;
    }
    failures++;
    onReconnect?.(cause);
    await sleep(chooseDelayMs(cause, failures, requester.options), signal);
  }
}

/** Oldest of the newest events in the feed, once the feed is available; null if it has no events. */
async function readOldest(
  requester: Requester,
  query: object,
  signal: AbortSignal | undefined,
): Promise<FeedEvent | null> {
  for (let failures = 1; ; failures++) {
    const body = await requester.get('/v1/events', query, { ...(signal && { signal }) });
    if (body.status === 'available') return body.events.at(-1) ?? null;
    // No reading was accepted yet, so the category has no events.
    if (body.reason === 'source_disabled') return null;
    await sleep(chooseDelayMs(null, failures, requester.options), signal);
  }
}

/** The connection broke, or was silent for too long. */
class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

interface Message {
  readonly id: string;
  /** Null for a position without an event. */
  readonly event: FeedEvent | null;
}

/** Yields the messages of one connection, until it ends. */
async function* connect(
  { url, fetch: send, options }: Requester,
  query: object,
  position: string | null,
  signal: AbortSignal | undefined,
): AsyncGenerator<Message, void> {
  const ending = new AbortController();
  const onAbort = () => ending.abort(signal?.reason);
  if (signal?.aborted) throw signal.reason;
  signal?.addEventListener('abort', onAbort, { once: true });
  const awaitData = () =>
    setTimeout(() => ending.abort(new ConnectionLost('no data for 45 seconds')), silenceMaxMs);
  let silence = awaitData();
  try {
    const response = await send(url(path, query), {
      headers: { ...options.headers, ...(position !== null && { 'Last-Event-ID': position }) },
      signal: ending.signal,
    });
    await requireOk(response);
    if (response.body === null) throw new ConnectionLost('the response has no body');
    const messages: Message[] = [];
    let id = position;
    const parser = createParser({
      onEvent: (message) => {
        id = message.id ?? id;
        if (id === null) return;
        const data = parseDecimals(JSON.parse(message.data), eventDecimals);
        messages.push({ id, event: message.event === 'position' ? null : (data as FeedEvent) });
      },
      onError: () => undefined, // Unknown fields are ignored.
    });
    const decoder = new TextDecoder();
    for await (const piece of readPieces(response.body)) {
      clearTimeout(silence);
      silence = awaitData();
      parser.feed(decoder.decode(piece, { stream: true }));
      yield* messages.splice(0);
    }
  } catch (error) {
    if (ending.signal.reason instanceof ConnectionLost) throw ending.signal.reason;
    // If the body breaks, the platform throws a TypeError.
    throw error instanceof TypeError ? new ConnectionLost('the connection broke', { cause: error }) : error;
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', onAbort);
    ending.abort();
  }
}

/** Yields the pieces of a body. Some browsers cannot iterate a `ReadableStream`. */
async function* readPieces(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
