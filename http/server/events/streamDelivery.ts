import type { HttpResponse } from 'uWebSockets.js';
import { type FeedPosition, isSamePosition } from '../../../actors/feed/feedPosition.ts';
import { RecordsUnavailable } from '../../../actors/older/recordsUnavailable.ts';
import type { FeedNews } from '../../../actors/views/feed/feedNews.ts';
import type { FeedViews } from '../../../actors/views/feed/feedViews.ts';
import type { LoadGuard } from '../limits/loadGuard.ts';
import type { AddressWords } from '../requests/ipAddress.ts';
import { createBroadcasts } from './broadcasts.ts';
import { createCatchUp } from './catchUp.ts';
import { formatEvents, formatPosition, type StreamForm } from './streamForm.ts';
import { comment, type StreamOutput } from './streamOutput.ts';

/** Missed events that a client is sent in one batch. */
const missedBatchSize = 100;

export interface StreamClient {
  readonly response: HttpResponse;
  readonly form: StreamForm;
  /** Null if clients are not limited. */
  readonly address: AddressWords | null;
  readonly output: StreamOutput;
  /** ID in the feed of the event after which the stream begins; null once its position is known, and for a client that names none. */
  eventId: string | null;
  /** Everything through this position was delivered; null until the feed is available. */
  position: FeedPosition | null;
  /** Whether the client has everything, and receives broadcasts. */
  isLive: boolean;
  /** Aborts when the stream ends. */
  readonly ending: AbortController;
}

interface StreamDeliveryOptions {
  readonly feed: FeedViews;
  /** False until state is restored. Until then nothing is delivered. */
  readonly hasViews: () => boolean;
  readonly clients: ReadonlySet<StreamClient>;
  /** Null if expensive work is not limited. */
  readonly loadGuard: LoadGuard | null;
  /** Called when too much waits for a client that does not read. */
  readonly onSlow: (client: StreamClient) => void;
  /** Called when no event has the ID that a client begins after. */
  readonly onUnknown: (client: StreamClient) => void;
  readonly onReadFailed: () => void;
  /** Called when an event is left out because its body is invalid. */
  readonly onRefused: (error: unknown) => void;
}

/** Sends clients of the event stream first the events that they have missed, then new ones. */
export function createStreamDelivery(options: StreamDeliveryOptions) {
  const { feed, hasViews, clients, loadGuard, onSlow, onUnknown, onReadFailed, onRefused } = options;
  const broadcasts = createBroadcasts<StreamClient>();
  const catchUp = createCatchUp<StreamClient>({
    findMissed,
    deliver: sendMissed,
    isOverloaded: () => loadGuard?.isOverloaded() ?? false,
    onReadFailed,
  });

  function broadcast(recipients: readonly StreamClient[], deliver: (client: StreamClient) => void) {
    broadcasts.start(recipients, (client) => {
      if (clients.has(client)) client.output.cork(() => deliver(client));
    });
  }

  /**
   * Sends new events to the clients that have everything before them and nothing after. Clients that opened their stream or caught
   * up since then have the events already. Each text is made once for all clients of a form.
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
      const texts = textsByForm.get(form) ?? formatEvents(form, news, onRefused);
      textsByForm.set(form, texts);
      for (const text of texts) send(client, text);
    });
  }

  /** Lets a client begin or catch up, unless it is live already or does not read, or there is no state yet. */
  function advance(client: StreamClient) {
    if (client.isLive || !clients.has(client) || !client.output.isFlowing() || !hasViews()) return;
    if (client.position === null && client.eventId === null) begin(client);
    else catchUp.add(client);
  }

  function begin(client: StreamClient) {
    // Existing events are not news, and a client that reconnects from this position misses nothing.
    feed.refresh();
    client.position = feed.position();
    if (client.position === null) return; // The feed is unavailable; the next refresh tries again.
    client.isLive = true;
    send(client, formatPosition(client.position));
  }

  function findMissed(client: StreamClient) {
    const { form, position, ending } = client;
    // The next broadcast then follows on what is read here.
    feed.refresh();
    if (position === null) return feed.position() === null ? null : () => readAfterEvent(client);
    const missed = feed.after(form.category, position, missedBatchSize);
    return typeof missed === 'function' ? () => missed(ending.signal) : missed;
  }

  /**
   * Reads what follows the event that a client named while it could not be looked up.
   *
   * @throws RecordsUnavailable
   */
  async function readAfterEvent(client: StreamClient): Promise<FeedNews> {
    const { form, eventId, ending } = client;
    if (eventId === null) throw new Error('a client that catches up has a position, or names an event');
    const position = await feed.locate(eventId, ending.signal);
    // Its next request is told so.
    if (position === null) onUnknown(client);
    const found =
      position === null || position === 'unavailable'
        ? null
        : feed.after(form.category, position, missedBatchSize);
    const missed = typeof found === 'function' ? await found(ending.signal) : found;
    if (missed === null) throw new RecordsUnavailable('the event cannot be looked up at the moment');
    // Not complete, since events may arrive before this is sent. The next turn finds them.
    return { ...missed, isComplete: false };
  }

  function sendMissed(client: StreamClient, missed: FeedNews) {
    client.eventId = null;
    client.position = missed.position;
    client.isLive = missed.isComplete;
    client.output.cork(() => {
      for (const text of formatEvents(client.form, missed, onRefused)) send(client, text);
    });
    // Without progress the missed events are not folded here yet; the next refresh tries again.
    if (!isSamePosition(missed.position, missed.from)) advance(client);
  }

  function send(client: StreamClient, text: string) {
    if (!clients.has(client)) return;
    if (!client.output.send(text)) onSlow(client);
  }

  return {
    send,
    advance,
    /** Checks the feed for new events, and lets clients that are behind catch up. */
    refresh: () => {
      feed.refresh();
      const behind = [...clients].filter(({ isLive }) => !isLive);
      if (behind.length > 0) broadcast(behind, advance);
    },
    broadcastNews,
    sendHeartbeats: () => broadcast([...clients], (client) => send(client, comment)),
    remove: catchUp.remove,
    clear: broadcasts.clear,
  };
}
