import { createParser } from 'eventsource-parser';
import { chooseDelayMs, sleep } from './attempts.ts';
import { parseDecimals } from './decimals.ts';
import type { Requester, RequestOptions } from './request.ts';
import { eventDecimals, type FeedEvent } from './responses.ts';
import { mayPass, requireOk } from './serviceError.ts';

export interface EventsOptions extends RequestOptions {
  readonly category?: 'all' | 'protocol' | 'players' | 'measurement';
  /**
   * Begins behind an event: a `position` that an earlier iteration gave, or the `id` of an event of the feed. Left out: with what becomes visible from now on.
   */
  readonly after?: string;
  /** Begins with the newest events of the feed, so many at most (1-100), and continues behind them; `after` goes before it. */
  readonly newest?: number;
  /** Called for each connection that ended or could not be made, before the next one is. */
  readonly onReconnect?: (error: unknown) => void;
}

export interface StreamedEvent {
  readonly event: FeedEvent;
  /** To resume behind it with `after`, also later and elsewhere. */
  readonly position: string;
}

const path = '/v1/events/stream';
/** The service sends a comment every 15 seconds: a connection that is silent for three times as long is dead. */
const silenceMaxMs = 45_000;

/**
 * Events of the feed as they become visible, each once, over any number of connections: one that ends is replaced, and continues behind the last event
 * that was received.
 *
 * @throws TypeError when `after` is empty, as a file is whose writing was broken off.
 */
export async function* streamEvents(
  requester: Requester,
  { signal, category, after, newest, onReconnect }: EventsOptions,
): AsyncGenerator<StreamedEvent, never> {
  if (after === '') throw new TypeError("after is '': expected the position of an event, or nothing");
  let position = after ?? null;
  const query = category === undefined ? {} : { category };
  if (newest !== undefined && after === undefined) {
    const body = await requester.get(
      '/v1/events',
      { ...query, limit: newest },
      { ...(signal && { signal }) },
    );
    const events = body.status === 'available' ? body.events : [];
    const oldest = events.at(-1);
    if (oldest !== undefined) {
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

/** The connection broke off, or nothing came for too long. */
class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

interface Message {
  readonly id: string;
  /** Null for a position alone. */
  readonly event: FeedEvent | null;
}

/** What one connection delivers, until it ends. */
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
  let silence = setTimeout(() => ending.abort(new ConnectionLost('nothing came')), silenceMaxMs);
  try {
    const response = await send(url(path, query), {
      headers: { ...options.headers, ...(position !== null && { 'Last-Event-ID': position }) },
      signal: ending.signal,
    });
    await requireOk(response);
    if (response.body === null) throw new ConnectionLost('a response without a body');
    const messages: Message[] = [];
    let id = position;
    let beginning = '';
    const parser = createParser({
      onEvent: (message) => {
        id = message.id ?? id;
        const event = parseDecimals(JSON.parse(message.data), eventDecimals) as FeedEvent;
        if (id !== null) messages.push({ id, event });
      },
      onError: () => undefined, // A field that is not known.
    });
    const decoder = new TextDecoder();
    for await (const piece of readPieces(response.body)) {
      clearTimeout(silence);
      silence = setTimeout(() => ending.abort(new ConnectionLost('nothing came')), silenceMaxMs);
      const text = decoder.decode(piece, { stream: true });
      parser.feed(text);
      if (id === null) {
        // The position that a stream begins with has no event, and the parser does not report it.
        beginning += text;
        id = /^id: ?(.+)\n(?:.*\n)*?\n/m.exec(beginning)?.[1] ?? null;
        if (id !== null) yield { id, event: null };
      }
      yield* messages.splice(0);
    }
  } catch (error) {
    if (ending.signal.reason instanceof ConnectionLost) throw ending.signal.reason;
    // A body that breaks off fails with an error of the platform.
    throw error instanceof TypeError ? new ConnectionLost('it broke off', { cause: error }) : error;
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', onAbort);
    ending.abort();
  }
}

/** Not every browser iterates a stream. */
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
