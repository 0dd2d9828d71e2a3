import type { HttpResponse } from 'uWebSockets.js';
import {
  type FeedNews,
  type FeedPosition,
  type FeedViews,
  isSamePosition,
} from '../../../actors/views/feed/feedViews.ts';
import type { LoadGuard } from '../limits/loadGuard.ts';
import type { AddressWords } from '../requests/ipAddress.ts';
import { createBroadcasts } from './broadcasts.ts';
import { createCatchUp } from './catchUp.ts';
import { formatEvents, formatPosition, type StreamForm } from './streamForm.ts';
import type { StreamOutput } from './streamOutput.ts';

/** Events that a client which has missed some is sent at once. */
export const missedBatchSize = 100;

export interface StreamClient {
  readonly response: HttpResponse;
  readonly form: StreamForm;
  /** Null where its streams are not limited. */
  readonly address: AddressWords | null;
  readonly output: StreamOutput;
  /** Through which events everything was delivered to it; null while the feed was never available. */
  position: FeedPosition | null;
  /** It has everything, and receives what is new. */
  isLive: boolean;
  readonly ending: AbortController;
}

/** What clients of the event stream are sent: first what each of them has missed, then what is new. */
interface StreamDelivery {
  send(client: StreamClient, text: string): void;
  /** Lets a client that reads begin, or catch up; one that has everything receives what is broadcast. */
  advance(client: StreamClient): void;
  /** Looks for what is new, and reminds those that are behind. */
  refresh(): void;
  /**
   * For those to whom exactly what precedes it was delivered: a client that opened its stream, or caught up, since then has it
   * already. Each text is made once for all clients of a form.
   */
  broadcastNews(news: FeedNews): void;
  sendHeartbeats(): void;
  remove(client: StreamClient): void;
  clear(): void;
}

interface StreamDeliveryOptions {
  readonly feed: FeedViews;
  readonly clients: ReadonlySet<StreamClient>;
  /** Null where expensive work is not limited. */
  readonly loadGuard: LoadGuard | null;
  /** A client has not read what it was sent, and can be sent nothing more. */
  readonly onSlow: (client: StreamClient) => void;
  readonly onReadFailed: () => void;
  /** An event was left out, since its body is invalid. */
  readonly onRefused: (error: unknown) => void;
}

export function createStreamDelivery(options: StreamDeliveryOptions): StreamDelivery {
  const { feed, clients, loadGuard, onSlow, onReadFailed, onRefused } = options;
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

  function advance(client: StreamClient) {
    if (client.isLive || !clients.has(client) || !client.output.isFlowing()) return;
    if (client.position === null) begin(client);
    else catchUp.add(client);
  }

  function begin(client: StreamClient) {
    // What exists already is not news; a client that reconnects from here loses nothing.
    feed.refresh();
    client.position = feed.position();
    if (client.position === null) return; // Unavailable so far: a refresh tries again.
    client.isLive = true;
    send(client, formatPosition(client.position));
  }

  function findMissed({ form, position, ending }: StreamClient) {
    if (position === null) throw new Error('a client that catches up has a position');
    // So that what is complete is followed by what is broadcast next.
    feed.refresh();
    const missed = feed.after(form.category, position, missedBatchSize);
    return typeof missed === 'function' ? () => missed(ending.signal) : missed;
  }

  function sendMissed(client: StreamClient, missed: FeedNews) {
    client.position = missed.position;
    client.isLive = missed.isComplete;
    client.output.cork(() => {
      for (const text of formatEvents(client.form, missed, onRefused)) send(client, text);
    });
    // Else it waits for what is not folded here yet: a refresh tries again.
    if (!isSamePosition(missed.position, missed.from)) advance(client);
  }

  function send(client: StreamClient, text: string) {
    if (!clients.has(client)) return;
    if (!client.output.send(text)) onSlow(client);
  }

  return {
    send,
    advance,
    refresh: () => {
      feed.refresh();
      const behind = [...clients].filter(({ isLive }) => !isLive);
      if (behind.length > 0) broadcast(behind, advance);
    },
    broadcastNews,
    sendHeartbeats: () => broadcast([...clients], (client) => send(client, ':\n\n')),
    remove: catchUp.remove,
    clear: broadcasts.clear,
  };
}
