import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { Counter, Gauge, type Registry } from 'prom-client';
import {
  cursorOfItem,
  type FeedCategory,
  type FeedItem,
  type FeedNews,
  type FeedViews,
  feedCategories,
  isOfCategory,
} from '../actors/feed/feedViews.ts';
import { type HttpError, httpError } from './errors.ts';
import { exactQuery } from './exactQuery.ts';
import type { Answers, Exchange } from './exchange.ts';
import type { AddressWords } from './ipAddress.ts';
import { feedEventBody } from './responses/events.ts';

export const eventStreamType = 'text/event-stream; charset=utf-8';

/** How often the feed is looked at while somebody listens. */
const refreshMs = 1_000;
const heartbeatMs = 15_000;
/** Milliseconds after which a client should connect again. */
const retryMs = 3_000;
/** Events that wait for a client that does not read (clients share their text); one more, and its stream ends. */
const waitingMax = 4_096;
/** Events that are read at once for a client that resumes. */
const resumedAtOnce = 100;
/** Clients that wait for ClickHouse at once; the others come to their turn with the next refresh. */
const readsMax = 8;
const clientsMax = 5_000;
const clientsOfAddressMax = 8;
const refusedForSeconds = 15;
/** Clients that are told something in one turn of the event loop. */
const toldAtOnce = 50;

export interface EventStreamParts {
  readonly feed: FeedViews;
  readonly answers: Answers;
  readonly registry: Registry;
  /** Whether clients of one address are limited. */
  readonly isLimited: boolean;
}

/** What a request for the stream asks. */
export interface StreamRequest {
  readonly query: URLSearchParams;
  /** `Last-Event-ID`; empty without one. */
  readonly lastEventId: string;
  /** Of the client, as a key. */
  readonly address: string;
}

/** Server-sent events: those of the feed as they become visible (an addition to the contract). */
export interface EventStream {
  open(exchange: Exchange, request: StreamRequest): HttpError | null;
  close(): void;
}

interface Client {
  readonly response: HttpResponse;
  readonly category: FeedCategory;
  readonly address: string;
  /** What it does not read yet. */
  readonly waiting: string[];
  isBlocked: boolean;
  /** Where it resumes; null once it has all, and is told what is new. */
  resumesAt: string | null;
  /** What it missed is being read from ClickHouse. */
  isReading: boolean;
  readonly ending: AbortController;
}

/** Texts that are being sent to those who listened when they became known. */
interface Telling {
  readonly listening: readonly Client[];
  readonly texts: readonly string[];
  next: number;
}

export function createEventStream({ feed, answers, registry, isLimited }: EventStreamParts): EventStream {
  const clients = new Set<Client>();
  const byAddress = new Map<string, number>();
  let timers: NodeJS.Timeout[] = [];
  /** News on their way to the clients, oldest first. */
  const tellings: Telling[] = [];
  let slow = 0;
  let reads = 0;
  let failedReads = 0;
  let stopListening: (() => void) | null = null;
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
    help: 'Reads of missed events from ClickHouse that failed; each is tried again.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(failedReads);
    },
  });

  function open(exchange: Exchange, { query, lastEventId, address }: StreamRequest): HttpError | null {
    const given = exactQuery(query, ['category']);
    const category = feedCategories.find((one) => one === (given?.get('category') ?? 'all'));
    if (given === null || category === undefined) return httpError('invalid_query');
    if (lastEventId !== '' && !feed.isCursor(category, lastEventId)) return httpError('invalid_cursor');
    const held = byAddress.get(address) ?? 0;
    if (clients.size >= clientsMax || (isLimited && held >= clientsOfAddressMax))
      return httpError('rate_limited', refusedForSeconds);
    // What is there already is no news, neither for this client nor for the index.
    feed.refresh();
    const response = answers.stream(exchange, eventStreamType);
    const resumesAt = lastEventId === '' ? null : lastEventId;
    const client: Client = {
      response,
      category,
      address,
      waiting: [],
      isBlocked: false,
      resumesAt,
      isReading: false,
      ending: new AbortController(),
    };
    byAddress.set(address, held + 1);
    clients.add(client);
    response.onAborted(() => forget(client));
    response.onWritable(() => {
      client.isBlocked = false;
      response.cork(() => pump(client));
      return true;
    });
    start();
    send(client, `retry: ${retryMs}\n\n`);
    pump(client);
    return null;
  }

  function forget(client: Client) {
    if (!clients.delete(client)) return;
    client.ending.abort();
    const left = (byAddress.get(client.address) ?? 1) - 1;
    if (left === 0) byAddress.delete(client.address);
    else byAddress.set(client.address, left);
    if (clients.size === 0) stop();
  }

  function start() {
    if (timers.length > 0) return;
    stopListening = feed.listen(tell);
    timers = [
      setInterval(() => {
        feed.refresh();
        for (const client of clients)
          if (client.resumesAt !== null && !client.isBlocked) client.response.cork(() => pump(client));
      }, refreshMs),
      setInterval(() => sendAll([...clients], [':\n\n']), heartbeatMs),
    ];
  }

  function stop() {
    for (const timer of timers) clearInterval(timer);
    timers = [];
    stopListening?.();
    stopListening = null;
  }

  /** Each text is made once for all clients of a category. */
  function tell(news: FeedNews) {
    for (const category of feedCategories) {
      const listening = [...clients].filter((one) => one.category === category && one.resumesAt === null);
      if (listening.length === 0) continue;
      const items = news.items.filter(({ type }) => isOfCategory(category, type));
      const texts = items.map((item) => textOf(category, item, news.context));
      sendAll(listening, texts);
    }
  }

  function sendAll(listening: readonly Client[], texts: readonly string[]) {
    if (tellings.push({ listening, texts, next: 0 }) === 1) tellSome();
  }

  /** Some clients in a turn of the event loop, so that no other request waits for all of them. */
  function tellSome() {
    const [telling] = tellings;
    if (telling === undefined) return;
    const { listening, texts } = telling;
    for (const client of listening.slice(telling.next, telling.next + toldAtOnce)) {
      if (!clients.has(client)) continue;
      client.response.cork(() => {
        for (const text of texts) send(client, text);
      });
    }
    telling.next += toldAtOnce;
    if (telling.next >= listening.length) tellings.shift();
    if (tellings.length > 0) setImmediate(tellSome);
  }

  /** Hands over what waits, then what a resuming client has missed, for as long as it reads. */
  function pump(client: Client) {
    while (client.waiting.length > 0 && !client.isBlocked) write(client, client.waiting.shift() as string);
    while (client.resumesAt !== null && !client.isBlocked && clients.has(client)) {
      if (client.isReading || reads >= readsMax) return;
      const { signal } = client.ending;
      const missed = feed.newerThan(client.category, client.resumesAt, resumedAtOnce, signal);
      if (missed === null) return; // Unavailable at the moment: a refresh finds it again.
      if (missed instanceof Promise) return waitFor(client, missed);
      sendMissed(client, missed);
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
          client.response.cork(() => {
            sendMissed(client, missed);
            pump(client);
          });
        },
        () => {
          if (clients.has(client)) failedReads++;
        },
      );
  }

  function sendMissed(client: Client, { items, context }: FeedNews) {
    for (const item of items) send(client, textOf(client.category, item, context));
    const last = items.at(-1);
    client.resumesAt =
      last === undefined || items.length < resumedAtOnce ? null : cursorOfItem(client.category, last);
  }

  function send(client: Client, text: string) {
    if (!clients.has(client)) return;
    if (!client.isBlocked) return write(client, text);
    if (client.waiting.length < waitingMax) {
      client.waiting.push(text);
      return;
    }
    slow++;
    forget(client);
    client.response.end();
  }

  function write(client: Client, text: string) {
    client.isBlocked = !client.response.write(text);
  }

  return {
    open,
    close: () => {
      for (const { response, ending } of clients) {
        ending.abort();
        response.cork(() => response.end());
      }
      clients.clear();
      tellings.length = 0;
      byAddress.clear();
      stop();
    },
  };
}

function textOf(category: FeedCategory, item: FeedItem, context: FeedNews['context']): string {
  const data = JSON.stringify(feedEventBody(item, context));
  return `id: ${cursorOfItem(category, item)}\nevent: ${item.type}\ndata: ${data}\n\n`;
}

/** Reads what of a request is needed before it is gone. */
export function streamRequestOf(request: HttpRequest, query: string, address: AddressWords): StreamRequest {
  return {
    query: new URLSearchParams(query),
    lastEventId: request.getHeader('last-event-id'),
    address: address.join('.'),
  };
}
