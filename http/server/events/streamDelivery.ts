import type { HttpResponse } from 'uWebSockets.js';
import { mergeMap, Subject } from 'rxjs';
import { type FeedSource, feedSources, listStoredCategories } from '../../../actors/feed/feedItem.ts';
import type { FeedPosition } from '../../../actors/feed/feedPosition.ts';
import type {
  FeedMoment,
  NextEvents,
  ReadFeedMoment,
  ReadNext,
} from '../../../actors/views/feed/feedNews.ts';
import type { Turns } from '../answers/pendingReads.ts';
import type { AddressWords } from '../requests/ipAddress.ts';
import { createEventFormat, formatId, formatPosition, formatRestart, type StreamForm } from './streamForm.ts';
import { comment, type StreamOutput } from './streamOutput.ts';

/** Events of a source that a client is sent at once. */
const batchSize = 100;
/** Clients and events that are served in one turn of the event loop, so that other requests get their turn. */
const servedOfTurn = 100;
/** Clients that may wait for ClickHouse at the same time; others wait until one of them is done. */
const readsMax = 8;

export interface StreamClient {
  readonly response: HttpResponse;
  readonly form: StreamForm;
  /** Null if clients are not limited. */
  readonly address: AddressWords | null;
  readonly output: StreamOutput;
  /** The last event of each source that was sent; null until the stream begins. */
  position: FeedPosition | null;
  /** Whether its next events are being read. */
  isReading: boolean;
  /** Comments that were due since the last one was written. */
  dueComments: number;
  /** Aborts when the stream ends. */
  readonly ending: AbortController;
}

interface StreamDeliveryOptions {
  readonly readFeedMoment: ReadFeedMoment;
  /** False until state is restored. Until then no event is sent. */
  readonly hasViews: () => boolean;
  readonly clients: ReadonlySet<StreamClient>;
  readonly turns: Turns;
  readonly onReadFailed: () => void;
  /** Called once when an event is left out because its body is invalid. */
  readonly onRefused: (error: unknown) => void;
}

/** Sends each client the events that follow its last ones, as long as it has room. Each turn of the event loop serves a few clients. */
export function createStreamDelivery(options: StreamDeliveryOptions) {
  const { readFeedMoment, hasViews, clients, turns, onReadFailed } = options;
  const formatEvent = createEventFormat(options.onRefused);
  /** Clients that may have something to be sent. */
  const queue = new Set<StreamClient>();
  let isScheduled = false;
  const reads$ = new Subject<() => Promise<void>>();
  reads$.pipe(mergeMap((read) => read(), readsMax)).subscribe();

  function add(client: StreamClient) {
    queue.add(client);
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(takeTurn);
  }

  function takeTurn() {
    isScheduled = false;
    const moment = hasViews() ? readFeedMoment() : null;
    let left = servedOfTurn;
    for (const client of queue) {
      if (left <= 0) return add(client);
      queue.delete(client);
      left--;
      if (!clients.has(client) || !client.output.isFlowing()) continue;
      client.output.cork(() => {
        if (moment !== null) left -= serve(client, moment);
        if (client.dueComments > 0) client.output.send(comment);
        client.dueComments = 0;
      });
    }
  }

  /** Returns the number of events that it sent. */
  function serve(client: StreamClient, moment: FeedMoment): number {
    const { category } = client.form;
    if (client.position === null) {
      // Existing events are not news. A client that returns with this position misses nothing.
      client.position = moment.findEnd(category);
      if (client.position !== null) client.output.send(formatPosition(client.position));
      return 0;
    }
    let sent = 0;
    for (const source of feedSources) {
      // What is being read comes before what would be found now.
      if (client.isReading) break;
      if (listStoredCategories(category, source).length === 0) continue;
      const next = moment.next(source, client.position[source], { category, limit: batchSize });
      if (next === null) continue;
      if (typeof next !== 'function') sent += sendEvents(client, source, next, moment);
      else startRead(client, source, next, moment);
    }
    return sent;
  }

  function startRead(client: StreamClient, source: FeedSource, read: ReadNext, moment: FeedMoment) {
    client.isReading = true;
    reads$.next(async () => {
      await new Promise<void>((run) => turns.take({ isOver: () => false, run }));
      try {
        const next = clients.has(client) ? await read(client.ending.signal) : null;
        client.isReading = false;
        if (next === null || !clients.has(client)) return;
        client.output.cork(() => sendEvents(client, source, next, moment));
      } catch {
        client.isReading = false;
        if (clients.has(client)) onReadFailed();
      }
    });
  }

  /** Returns their number. The client may have missed more. */
  function sendEvents(client: StreamClient, source: FeedSource, next: NextEvents, { context }: FeedMoment) {
    const { form, output, position: before } = client;
    if (before === null) throw new Error('a client that is sent events has a position');
    if (next.isRestarted) output.send(formatRestart(before, source));
    for (const { item, place } of next.items) {
      const text = formatEvent(form, item, context);
      if (text !== null) output.send(formatId({ ...before, [source]: place }) + text);
    }
    client.position = { ...before, [source]: next.place };
    add(client);
    return next.items.length;
  }

  return { add };
}
