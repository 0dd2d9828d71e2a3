import type { Registry } from 'prom-client';
import { interval, merge, type Subscription, tap } from 'rxjs';
import {
  decodeFeedPosition,
  encodeFeedPosition,
  type FeedViews,
} from '../../../actors/views/feed/feedViews.ts';
import { StorageUnavailable } from '../../../storage/storageUnavailable.ts';
import { createHttpError, type HttpError } from '../../routes/errors.ts';
import type { ReadResult } from '../../routes/route.ts';
import type { Exchange, ResponseWriter } from '../answers/responseWriter.ts';
import { createClientCounts } from '../limits/clientCounts.ts';
import type { LoadGuard } from '../limits/loadGuard.ts';
import { createEventStreamMetrics } from './eventStreamMetrics.ts';
import { createStreamDelivery, type StreamClient } from './streamDelivery.ts';
import { formatPosition, parseStreamForm } from './streamForm.ts';
import { createStreamOutput } from './streamOutput.ts';

export const eventStreamType = 'text/event-stream; charset=utf-8';

/** How often the feed is checked while clients listen. */
const refreshMs = 1_000;
export const heartbeatMs = 15_000;
/** Milliseconds after which a client should connect again. */
const retryMs = 3_000;
export const clientsMax = 5_000;
export const streamsOfClientMax = 32;
export const streamsOfSiteMax = 256;
const refusedForSeconds = 15;

interface EventStreamOptions {
  readonly feed: FeedViews;
  readonly writer: ResponseWriter;
  readonly registry: Registry;
  /** Null if expensive work is not limited. */
  readonly loadGuard: LoadGuard | null;
  /** Called when an event is left out because its body is invalid. */
  readonly onRefused: (error: unknown) => void;
}

interface StreamRequest {
  readonly query: URLSearchParams;
  /** `Last-Event-ID`; empty without one. */
  readonly lastEventId: string;
}

/** The events of the feed as server-sent events, as they become visible (CONTRACT.md, Event stream). */
export interface EventStream {
  /** @returns why no stream was opened; null if one was. */
  open(exchange: Exchange, request: StreamRequest): HttpError | null;
  /**
   * @param eventId the event's ID in the feed.
   * @returns the ID that the stream sends with the event.
   * @throws StorageUnavailable
   */
  locate(eventId: string, signal: AbortSignal): Promise<ReadResult<string>>;
  close(): void;
}

/** Whether `Last-Event-ID` is an ID of the feed; the stream's own IDs have no colon. */
export function isFeedEventId(lastEventId: string): boolean {
  return /^(?:chain|measurement):./.test(lastEventId);
}

export function createEventStream(options: EventStreamOptions): EventStream {
  const { feed, writer, registry, loadGuard } = options;
  const clients = new Set<StreamClient>();
  const counts = createClientCounts(streamsOfClientMax, streamsOfSiteMax);
  const metrics = createEventStreamMetrics(registry, () => clients.size);
  const delivery = createStreamDelivery({
    feed,
    clients,
    loadGuard,
    onSlow: endSlow,
    onReadFailed: metrics.failedRead,
    onRefused: options.onRefused,
  });
  let upkeep: Subscription | null = null;

  function open(exchange: Exchange, { query, lastEventId }: StreamRequest): HttpError | null {
    const form = parseStreamForm(query);
    if (form === null) return createHttpError('invalid_query');
    const resumesAt = lastEventId === '' ? null : decodeFeedPosition(lastEventId);
    if (lastEventId !== '' && resumesAt === null) return createHttpError('invalid_cursor');
    const { client: address } = exchange;
    if (clients.size >= clientsMax || counts.isFull(address))
      return createHttpError('rate_limited', refusedForSeconds);
    const response = writer.beginStream(exchange, eventStreamType);
    const client: StreamClient = {
      response,
      form,
      address,
      output: createStreamOutput(response, () => delivery.advance(client)),
      position: resumesAt,
      isLive: false,
      ending: new AbortController(),
    };
    counts.change(address, 1);
    clients.add(client);
    response.onAborted(() => forget(client));
    start();
    delivery.send(client, `retry: ${retryMs}\n\n`);
    if (resumesAt !== null) delivery.send(client, formatPosition(resumesAt));
    delivery.advance(client);
    return null;
  }

  async function locate(eventId: string, signal: AbortSignal): Promise<ReadResult<string>> {
    const position = await feed.locate(eventId, signal);
    if (position === null) return { error: 'invalid_cursor' };
    if (position === 'unavailable') throw new StorageUnavailable('the feed is unavailable at the moment');
    return { body: encodeFeedPosition(position) };
  }

  function forget(client: StreamClient) {
    if (!clients.delete(client)) return;
    client.output.stop();
    client.ending.abort();
    delivery.remove(client);
    counts.change(client.address, -1);
    if (clients.size === 0) stop();
  }

  function start() {
    if (upkeep !== null) return;
    upkeep = merge(
      interval(refreshMs).pipe(tap(delivery.refresh)),
      interval(heartbeatMs).pipe(tap(delivery.sendHeartbeats)),
    ).subscribe();
    upkeep.add(feed.listen(delivery.broadcastNews));
  }

  function stop() {
    upkeep?.unsubscribe();
    upkeep = null;
  }

  function endSlow(client: StreamClient) {
    metrics.slowClient();
    forget(client);
    client.response.end();
  }

  return {
    open,
    locate,
    close: () => {
      delivery.clear();
      for (const client of clients) {
        forget(client);
        client.response.cork(() => client.response.end());
      }
    },
  };
}
