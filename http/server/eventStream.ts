import type { HttpResponse } from 'uWebSockets.js';
import { Counter, Gauge, type Registry } from 'prom-client';
import { interval, merge, type Subscription, tap } from 'rxjs';
import {
  decodeStreamPosition,
  encodeStreamPosition,
  type FeedNews,
  type FeedViews,
  isSamePosition,
  type StreamPosition,
} from '../../actors/views/feedViews.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import type { ReadResult } from '../routes/route.ts';
import { createBroadcasts } from './broadcasts.ts';
import { createCatchUp } from './catchUp.ts';
import { createHttpError, type HttpError } from './errors.ts';
import type { AddressWords } from './ipAddress.ts';
import type { LoadGuard } from './loadGuard.ts';
import type { Exchange, ResponseWriter } from './responseWriter.ts';
import { createStreamCounts } from './streamCounts.ts';
import { formatEvents, formatPosition, parseStreamForm, type StreamForm } from './streamForm.ts';
import { createStreamOutput, type StreamOutput } from './streamOutput.ts';

export const eventStreamType = 'text/event-stream; charset=utf-8';

/** How often the feed is looked at while somebody listens. */
const refreshMs = 1_000;
export const defaultHeartbeatMs = 15_000;
/** Milliseconds after which a client should connect again. */
const retryMs = 3_000;
/** Events that a client which has missed some is sent at once. */
export const missedBatchSize = 100;
export const clientsMax = 5_000;
const refusedForSeconds = 15;

export interface EventStreamOptions {
  readonly feed: FeedViews;
  readonly writer: ResponseWriter;
  readonly registry: Registry;
  /** Whether the streams of one client and of one site are limited. */
  readonly isLimited: boolean;
  /** Null where expensive work is not limited. */
  readonly loadGuard: LoadGuard | null;
  /** A quiet connection is kept open by a comment in this interval. */
  readonly heartbeatMs?: number;
}

/** What is read of a request for the stream. */
export interface StreamRequest {
  readonly query: URLSearchParams;
  /** `Last-Event-ID`; empty without one. */
  readonly lastEventId: string;
  readonly address: AddressWords;
}

/** Server-sent events: those of the feed as they become visible (CONTRACT.md, Event stream). */
export interface EventStream {
  open(exchange: Exchange, request: StreamRequest): HttpError | null;
  /**
   * The ID that the stream sends with an event, from the ID that the event has in the feed.
   *
   * @throws StorageUnavailable
   */
  locate(eventId: string, signal: AbortSignal): Promise<ReadResult<string>>;
  close(): void;
}

/** Whether `Last-Event-ID` is an ID of the feed; the stream's own IDs have no colon. */
export function isFeedEventId(lastEventId: string): boolean {
  return /^(?:chain|measurement):./.test(lastEventId);
}

interface Client {
  readonly response: HttpResponse;
  readonly form: StreamForm;
  readonly address: AddressWords;
  readonly output: StreamOutput;
  /** Through which events everything was delivered to it; null while the feed was never available. */
  position: StreamPosition | null;
  /** It has everything, and receives what is new. */
  isLive: boolean;
  readonly ending: AbortController;
}

export function createEventStream(options: EventStreamOptions): EventStream {
  const { feed, writer, registry, isLimited, loadGuard, heartbeatMs = defaultHeartbeatMs } = options;
  const clients = new Set<Client>();
  const counts = createStreamCounts();
  const broadcasts = createBroadcasts<Client>();
  const catchUp = createCatchUp<Client>({
    findMissed,
    deliver: sendMissed,
    isOverloaded: () => loadGuard?.isOverloaded() ?? false,
    onReadFailed: () => failedReads++,
  });
  /** What runs while somebody listens. */
  let upkeep: Subscription | null = null;
  let slow = 0;
  let failedReads = 0;
  new Gauge({
    name: 'miner_event_stream_clients',
    help: 'Clients that listen to the event stream.',
    registers: [registry],
    collect() {
      this.set(clients.size);
    },
  });
  new Counter({
    name: 'miner_event_stream_slow_clients_total',
    help: 'Streams that were ended because the client did not read them.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(slow);
    },
  });

  new Counter({
    name: 'miner_event_stream_failed_reads_total',
    help: 'Reads of missed events from ClickHouse that failed; each is retried.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(failedReads);
    },
  });

  function open(exchange: Exchange, { query, lastEventId, address }: StreamRequest): HttpError | null {
    const form = parseStreamForm(query);
    if (form === null) return createHttpError('invalid_query');
    const resumesAt = lastEventId === '' ? null : decodeStreamPosition(lastEventId);
    if (lastEventId !== '' && resumesAt === null) return createHttpError('invalid_cursor');
    if (clients.size >= clientsMax || (isLimited && counts.isFull(address)))
      return createHttpError('rate_limited', refusedForSeconds);
    const response = writer.beginStream(exchange, eventStreamType);
    const client: Client = {
      response,
      form,
      address,
      output: createStreamOutput(response, () => advance(client)),
      position: resumesAt,
      isLive: false,
      ending: new AbortController(),
    };
    counts.change(address, 1);
    clients.add(client);
    response.onAborted(() => forget(client));
    start();
    send(client, `retry: ${retryMs}\n\n`);
    if (resumesAt !== null) send(client, formatPosition(resumesAt));
    advance(client);
    return null;
  }

  async function locate(eventId: string, signal: AbortSignal): Promise<ReadResult<string>> {
    const position = await feed.locate(eventId, signal);
    if (position === null) return { error: 'invalid_cursor' };
    if (position === 'unavailable') throw new StorageUnavailable('the feed is unavailable at the moment');
    return { body: encodeStreamPosition(position) };
  }

  function forget(client: Client) {
    if (!clients.delete(client)) return;
    client.output.stop();
    client.ending.abort();
    catchUp.remove(client);
    counts.change(client.address, -1);
    if (clients.size === 0) stop();
  }

  function start() {
    if (upkeep !== null) return;
    upkeep = merge(
      interval(refreshMs).pipe(tap(refresh)),
      interval(heartbeatMs).pipe(tap(() => broadcast([...clients], (client) => send(client, ':\n\n')))),
    ).subscribe();
    upkeep.add(feed.listen(broadcastNews));
  }

  function refresh() {
    feed.refresh();
    const behind = [...clients].filter(({ isLive }) => !isLive);
    if (behind.length > 0) broadcast(behind, advance);
  }

  function stop() {
    upkeep?.unsubscribe();
    upkeep = null;
  }

  function broadcast(recipients: readonly Client[], deliver: (client: Client) => void) {
    broadcasts.start(recipients, (client) => {
      if (clients.has(client)) client.output.cork(() => deliver(client));
    });
  }

  /**
   * For those to whom exactly what precedes it was delivered: a client that opened its stream, or caught up, since then has it
   * already. Each text is made once for all clients of a form.
   */
  function broadcastNews(news: FeedNews) {
    const textsByForm = new Map<StreamForm, readonly string[]>();
    broadcast([...clients], (client) => {
      if (!client.isLive || client.position !== news.from) return;
      if (!news.isComplete) {
        client.isLive = false;
        return advance(client);
      }
      client.position = news.position;
      const { form } = client;
      const texts = textsByForm.get(form) ?? formatEvents(form, news);
      textsByForm.set(form, texts);
      for (const text of texts) send(client, text);
    });
  }

  /** Lets a client that reads begin, or catch up; one that has everything receives what is broadcast. */
  function advance(client: Client) {
    if (client.isLive || !clients.has(client) || !client.output.isFlowing()) return;
    if (client.position === null) begin(client);
    else catchUp.add(client);
  }

  function begin(client: Client) {
    // What exists already is not news; a client that reconnects from here loses nothing.
    feed.refresh();
    client.position = feed.position();
    if (client.position === null) return; // Unavailable so far: a refresh tries again.
    client.isLive = true;
    send(client, formatPosition(client.position));
  }

  function findMissed({ form, position, ending }: Client) {
    if (position === null) throw new Error('a client that catches up has a position');
    // So that what is complete is followed by what is broadcast next.
    feed.refresh();
    const missed = feed.after(form.category, position, missedBatchSize);
    return typeof missed === 'function' ? () => missed(ending.signal) : missed;
  }

  function sendMissed(client: Client, missed: FeedNews) {
    client.position = missed.position;
    client.isLive = missed.isComplete;
    client.output.cork(() => {
      for (const text of formatEvents(client.form, missed)) send(client, text);
    });
    // Else it waits for what is not folded here yet: a refresh tries again.
    if (!isSamePosition(missed.position, missed.from)) advance(client);
  }

  function send(client: Client, text: string) {
    if (!clients.has(client)) return;
    if (client.output.send(text)) return;
    slow++;
    forget(client);
    client.response.end();
  }

  return {
    open,
    locate,
    close: () => {
      broadcasts.clear();
      for (const client of clients) {
        forget(client);
        client.response.cork(() => client.response.end());
      }
    },
  };
}
