import type { HttpResponse } from 'uWebSockets.js';
import { Counter, Gauge, type Registry } from 'prom-client';
import { interval, merge, type Subscription, tap } from 'rxjs';
import {
  decodeStreamPosition,
  encodeStreamPosition,
  type FeedCategory,
  type FeedNews,
  type FeedViews,
  feedCategories,
  isOfCategory,
  type StreamPosition,
} from '../../actors/views/feedViews.ts';
import { StorageUnavailable } from '../../storage/storageUnavailable.ts';
import { toFeedEventBody } from '../responses/events.ts';
import { parseExactQuery } from '../routes/parseExactQuery.ts';
import type { ReadResult } from '../routes/route.ts';
import { createHttpError, type HttpError } from './errors.ts';
import { type AddressWords, toClient, toSite } from './ipAddress.ts';
import type { Exchange, ResponseWriter } from './responseWriter.ts';
import { createStreamOutput, type StreamOutput } from './streamOutput.ts';

export const eventStreamType = 'text/event-stream; charset=utf-8';

/** How often the feed is looked at while somebody listens. */
const refreshMs = 1_000;
export const defaultHeartbeatMs = 15_000;
/** Milliseconds after which a client should connect again. */
const retryMs = 3_000;
/** Events that one read gives a client that resumes. */
const resumeBatchSize = 100;
/** Clients that may wait for ClickHouse at the same time; the others have their turn at the next refresh. */
const readsMax = 8;
export const clientsMax = 5_000;
/** Streams of one client, which may be an office behind one address, and of one site (`ipAddress.ts`): nobody takes all of them. */
export const streamsOfClientMax = 32;
export const streamsOfSiteMax = 256;
const refusedForSeconds = 15;
/** Clients that a broadcast reaches in one turn of the event loop. */
const broadcastBatchSize = 50;

export interface EventStreamOptions {
  readonly feed: FeedViews;
  readonly writer: ResponseWriter;
  readonly registry: Registry;
  /** Whether the streams of one client and of one site are limited. */
  readonly isLimited: boolean;
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
  /** Whom it counts for: itself and its site, where it has one. */
  readonly origins: readonly Origin[];
  readonly output: StreamOutput;
  /** Through which events everything was delivered to it; null while the feed was never available. */
  position: StreamPosition | null;
  /** It has everything, and receives what is new. */
  isLive: boolean;
  /** What it missed is being read from ClickHouse. */
  isReading: boolean;
  readonly ending: AbortController;
}

/** What a client chose to receive. Clients of one form receive the same texts. */
interface StreamForm {
  readonly category: FeedCategory;
  /** Whether events have their type as a name; `onmessage` of a browser's `EventSource` receives those without one. */
  readonly isNamed: boolean;
}

const forms: readonly StreamForm[] = feedCategories.flatMap((category) =>
  [true, false].map((isNamed) => ({ category, isNamed })),
);

/** Somebody whose streams are limited together. */
interface Origin {
  readonly key: string;
  readonly streamsMax: number;
}

/** A message for those who listened when it became known. */
interface Broadcast {
  readonly listening: readonly Client[];
  readonly deliver: (client: Client) => void;
  next: number;
}

export function createEventStream(options: EventStreamOptions): EventStream {
  const { feed, writer, registry, isLimited, heartbeatMs = defaultHeartbeatMs } = options;
  const clients = new Set<Client>();
  const streamsByOrigin = new Map<string, number>();
  /** What runs while somebody listens. */
  let upkeep: Subscription | null = null;
  /** Messages on their way to the clients, oldest first. */
  const broadcasts: Broadcast[] = [];
  let slow = 0;
  let reads = 0;
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
    const origins = findOrigins(address);
    const isFull = ({ key, streamsMax }: Origin) => (streamsByOrigin.get(key) ?? 0) >= streamsMax;
    if (clients.size >= clientsMax || (isLimited && origins.some(isFull)))
      return createHttpError('rate_limited', refusedForSeconds);
    const response = writer.beginStream(exchange, eventStreamType);
    const client: Client = {
      response,
      form,
      origins,
      output: createStreamOutput(response, () => pump(client)),
      position: resumesAt,
      isLive: false,
      isReading: false,
      ending: new AbortController(),
    };
    for (const { key } of origins) streamsByOrigin.set(key, (streamsByOrigin.get(key) ?? 0) + 1);
    clients.add(client);
    response.onAborted(() => forget(client));
    start();
    send(client, `retry: ${retryMs}\n\n`);
    if (resumesAt !== null) send(client, formatPosition(resumesAt));
    pump(client);
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
    for (const { key } of client.origins) {
      const left = (streamsByOrigin.get(key) ?? 1) - 1;
      if (left === 0) streamsByOrigin.delete(key);
      else streamsByOrigin.set(key, left);
    }
    if (clients.size === 0) stop();
  }

  function start() {
    if (upkeep !== null) return;
    upkeep = merge(
      interval(refreshMs).pipe(tap(refresh)),
      interval(heartbeatMs).pipe(tap(() => startBroadcast((client) => send(client, ':\n\n')))),
    ).subscribe();
    upkeep.add(feed.listen(broadcastNews));
  }

  function refresh() {
    feed.refresh();
    for (const client of clients) if (!client.isLive) client.output.cork(() => pump(client));
  }

  function stop() {
    upkeep?.unsubscribe();
    upkeep = null;
  }

  /**
   * For those to whom exactly what precedes it was delivered: a client that opened its stream, or caught up, since then has it
   * already. Each text is made once for all clients of a form.
   */
  function broadcastNews(news: FeedNews) {
    const textsByForm = new Map<StreamForm, readonly string[]>();
    startBroadcast((client) => {
      if (!client.isLive || client.position !== news.from) return;
      if (!news.isComplete) {
        client.isLive = false;
        return pump(client);
      }
      client.position = news.position;
      const { form } = client;
      const texts = textsByForm.get(form) ?? formatEvents(form, news);
      textsByForm.set(form, texts);
      for (const text of texts) send(client, text);
    });
  }

  function startBroadcast(deliver: (client: Client) => void) {
    if (broadcasts.push({ listening: [...clients], deliver, next: 0 }) === 1) deliverNextBatch();
  }

  /** Some clients in a turn of the event loop, so that no other request waits for all of them. */
  function deliverNextBatch() {
    const [broadcast] = broadcasts;
    if (broadcast === undefined) return;
    const { listening, deliver } = broadcast;
    for (const client of listening.slice(broadcast.next, broadcast.next + broadcastBatchSize))
      if (clients.has(client)) client.output.cork(() => deliver(client));
    broadcast.next += broadcastBatchSize;
    if (broadcast.next >= listening.length) broadcasts.shift();
    if (broadcasts.length > 0) setImmediate(deliverNextBatch);
  }

  /** Sends what a resuming client has missed, for as long as it reads. */
  function pump(client: Client) {
    while (!client.isLive && client.output.isFlowing() && clients.has(client)) {
      if (client.position === null) {
        // What exists already is not news; a client that reconnects from here loses nothing.
        client.position = feed.position();
        if (client.position === null) return; // Unavailable so far: a refresh tries again.
        client.isLive = true;
        return send(client, formatPosition(client.position));
      }
      if (client.isReading || reads >= readsMax) return;
      const { signal } = client.ending;
      const missed = feed.after(client.form.category, client.position, resumeBatchSize, signal);
      if (missed === null) return; // Unavailable at the moment: a refresh tries again.
      if (missed instanceof Promise) return waitFor(client, missed);
      sendMissed(client, missed);
      if (!missed.isComplete && missed.items.length === 0) return; // Not folded here yet: a refresh tries again.
    }
  }

  function waitFor(client: Client, reading: Promise<FeedNews>) {
    client.isReading = true;
    reads++;
    reading
      .finally(() => {
        client.isReading = false;
        reads--;
      })
      .then(
        (missed) => {
          if (!clients.has(client)) return;
          client.output.cork(() => {
            sendMissed(client, missed);
            pump(client);
          });
        },
        () => {
          if (clients.has(client)) failedReads++;
        },
      );
  }

  function sendMissed(client: Client, news: FeedNews) {
    client.position = news.position;
    client.isLive = news.isComplete;
    for (const text of formatEvents(client.form, news)) send(client, text);
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
      for (const { response, output, ending } of clients) {
        output.stop();
        ending.abort();
        response.cork(() => response.end());
      }
      clients.clear();
      broadcasts.length = 0;
      streamsByOrigin.clear();
      stop();
    },
  };
}

function findOrigins(address: AddressWords): Origin[] {
  const client = { key: toClient(address).join('.'), streamsMax: streamsOfClientMax };
  const site = toSite(address);
  return site === null ? [client] : [client, { key: site.join('.'), streamsMax: streamsOfSiteMax }];
}

/** Null for a query that is refused. */
function parseStreamForm(query: URLSearchParams): StreamForm | null {
  const given = parseExactQuery(query, ['category', 'unnamed']);
  const unnamed = given?.get('unnamed');
  if (given === null || (unnamed !== undefined && unnamed !== '1')) return null;
  const category = given.get('category') ?? 'all';
  return forms.find((form) => form.category === category && form.isNamed === (unnamed === undefined)) ?? null;
}

/** Events of a category as they are sent. */
function formatEvents({ category, isNamed }: StreamForm, { items, context }: FeedNews): string[] {
  return items
    .filter(({ item }) => isOfCategory(category, item.type))
    .map(({ item, position }) => {
      const data = JSON.stringify(toFeedEventBody(item, context));
      const name = isNamed ? `event: ${item.type}\n` : '';
      return `id: ${encodeStreamPosition(position)}\n${name}data: ${data}\n\n`;
    });
}

/** Gives the client its position, without an event. */
function formatPosition(position: StreamPosition): string {
  return `id: ${encodeStreamPosition(position)}\n\n`;
}
