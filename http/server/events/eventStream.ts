import type { Registry } from 'prom-client';
import { interval, merge, type Subscription, tap } from 'rxjs';
import type { Clock } from '../../../actors/clock.ts';
import { decodeFeedPosition } from '../../../actors/feed/feedPosition.ts';
import { registerMetrics } from '../../../actors/registerMetrics.ts';
import type { ReadFeedMoment } from '../../../actors/views/feed/feedNews.ts';
import { createHttpError, type HttpError } from '../../routes/errors.ts';
import type { Turns } from '../answers/pendingReads.ts';
import type { Exchange, ResponseWriter } from '../answers/responseWriter.ts';
import { retryAfterSeconds } from '../answers/routeAnswers.ts';
import type { Transport } from '../engine/uws.ts';
import { createClientCounts } from '../limits/clientCounts.ts';
import { createStreamDelivery, type StreamClient } from './streamDelivery.ts';
import { formatRetry, type StreamRequest } from './streamForm.ts';
import { createStreamOutput } from './streamOutput.ts';

export const eventStreamPath = '/v1/events/stream';
const eventStreamType = 'text/event-stream; charset=utf-8';

/** How often clients are looked at for new events. */
const refreshMs = 1_000;
export const heartbeatMs = 15_000;
/** Comments that a client without room misses before its stream ends. */
const missedCommentsMax = 3;
/** The least time that a client has to read what was sent to it. */
export const readMs = missedCommentsMax * heartbeatMs;
export const clientsMax = 5_000;
export const streamsOfClientMax = 32;
export const streamsOfSiteMax = 256;
const refusedForSeconds = 15;
/**
 * Shortest pause before a client connects again; the longest is twice as long. All streams break at the same moment, and a browser gives up for good
 * at a 429. Spread over three seconds, all streams of a client stay within its rate of requests.
 */
const retryMs = 3_000;
/**
 * How long after its start a process takes streams without state. A browser gives up for good at a 503, and a start takes seconds. If it takes longer,
 * a proxy in front should ask another process.
 */
export const stateWaitMaxMs = 300_000;

interface EventStreamOptions {
  readonly readFeedMoment: ReadFeedMoment;
  /** False until state is restored. */
  readonly hasViews: () => boolean;
  readonly transport: Transport;
  readonly writer: ResponseWriter;
  readonly registry: Registry;
  /** Missed events are read in turns with expensive requests. */
  readonly turns: Turns;
  readonly clock: Clock;
  /** Called when an event is left out because its body is invalid. */
  readonly onRefused: (error: unknown) => void;
}

/** The events of the feed as server-sent events, as they become visible (CONTRACT.md, Event stream). */
export function createEventStream(options: EventStreamOptions) {
  const { readFeedMoment, hasViews, transport, writer, registry, turns, clock } = options;
  const startedMs = clock.monotonicMs();
  const clients = new Set<StreamClient>();
  const counts = createClientCounts(streamsOfClientMax, streamsOfSiteMax);
  let slowClients = 0;
  let failedReads = 0;
  registerMetrics(registry, {
    miner_event_stream_clients: ['Clients that listen to the event stream.', () => clients.size],
    miner_event_stream_slow_clients_total: [
      'Event streams ended because the client did not read.',
      () => slowClients,
    ],
    miner_event_stream_failed_reads_total: [
      'Reads of missed events from ClickHouse that failed; each is retried.',
      () => failedReads,
    ],
  });
  const delivery = createStreamDelivery({
    readFeedMoment,
    hasViews,
    clients,
    turns,
    onReadFailed: () => {
      failedReads++;
    },
    onRefused: options.onRefused,
  });
  let upkeep: Subscription | null = null;
  let opened = 0;

  const isStateLate = () => !hasViews() && clock.monotonicMs() - startedMs >= stateWaitMaxMs;

  /**
   * Opens a stream; HEAD gets its headers. Until state is restored, the stream is silent but for comments.
   *
   * @returns why no stream was opened; null if one was.
   */
  function open(exchange: Exchange, { form, lastEventId }: StreamRequest): HttpError | null {
    const position = lastEventId === '' ? null : decodeFeedPosition(lastEventId);
    if (lastEventId !== '' && position === null) return createHttpError('invalid_cursor');
    const { client: address } = exchange;
    if (clients.size >= clientsMax || counts.isFull(address))
      return createHttpError('rate_limited', refusedForSeconds);
    if (isStateLate()) return createHttpError('database_unavailable', retryAfterSeconds);
    const response = writer.beginStream(exchange, eventStreamType);
    if (response === null) return null;
    const client: StreamClient = {
      response,
      form,
      address,
      output: createStreamOutput(transport, response, () => delivery.add(client)),
      position,
      isReading: false,
      dueComments: 0,
      ending: new AbortController(),
    };
    counts.change(address, 1);
    clients.add(client);
    response.onAborted(() => forget(client));
    start();
    client.output.cork(() => client.output.send(formatRetry(choosePauseMs())));
    delivery.add(client);
    return null;
  }

  /** @returns pauses that are spread evenly over the streams that one client may have. */
  function choosePauseMs(): number {
    opened = (opened + 1) % streamsOfClientMax;
    return Math.round(retryMs * (1 + opened / streamsOfClientMax));
  }

  function forget(client: StreamClient) {
    if (!clients.delete(client)) return;
    client.output.stop();
    client.ending.abort();
    counts.change(client.address, -1);
    if (clients.size === 0) stop();
  }

  function start() {
    upkeep ??= merge(
      interval(refreshMs).pipe(tap(refresh)),
      interval(heartbeatMs).pipe(tap(sendComments)),
    ).subscribe();
  }

  function refresh() {
    // They come again, and a proxy in front finds a process with state.
    if (isStateLate()) endAll();
    for (const client of clients) delivery.add(client);
  }

  function sendComments() {
    for (const client of clients) {
      if (client.dueComments === missedCommentsMax) {
        slowClients++;
        end(client);
      } else {
        client.dueComments++;
        delivery.add(client);
      }
    }
  }

  function stop() {
    upkeep?.unsubscribe();
    upkeep = null;
  }

  function end(client: StreamClient) {
    forget(client);
    client.response.cork(() => client.response.end());
  }

  function endAll() {
    for (const client of clients) end(client);
  }

  return { open, close: endAll };
}
