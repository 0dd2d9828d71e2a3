import { createParser } from 'eventsource-parser';
import { whenFinished } from '../support/processes/lifetime.ts';
import type { FeedEvent } from './readFeed.ts';

const reconnectMs = 1_000;

/** Clients of the event stream, which resume after each kill; what they have seen. */
export interface Listeners {
  readonly events: number;
  /** Events that one of them was sent twice. */
  readonly doubled: number;
  /** Whether everybody has been sent this event. */
  haveAll(eventId: string): boolean;
  /** Events that came after the first one that a client was sent, and that it was not sent; of all clients. */
  countMissed(feed: readonly FeedEvent[]): number;
  end(): void;
}

export function startListeners(url: () => string, count: number): Listeners {
  const ending = new AbortController();
  const seenBy = Array.from({ length: count }, () => new Set<string>());
  const state = { events: 0, doubled: 0 };

  async function listen(seen: Set<string>) {
    let lastId = '';
    const parser = createParser({
      onEvent: ({ id, data }) => {
        const { id: eventId } = JSON.parse(data) as FeedEvent;
        if (seen.has(eventId)) state.doubled++;
        seen.add(eventId);
        state.events++;
        lastId = id ?? lastId;
      },
    });
    while (!ending.signal.aborted) {
      try {
        const headers = lastId === '' ? {} : { 'Last-Event-ID': lastId };
        const response = await fetch(`${url()}/v1/events/stream`, { headers, signal: ending.signal });
        const decoder = new TextDecoder();
        // Where it is not ready, the service says so in JSON.
        if (response.ok && response.body !== null)
          for await (const piece of response.body) parser.feed(decoder.decode(piece, { stream: true }));
        else await response.arrayBuffer();
      } catch {
        // The process was killed, or is just being started.
      }
      parser.reset();
      await new Promise((resolve) => setTimeout(resolve, reconnectMs));
    }
  }

  for (const seen of seenBy) void listen(seen);
  whenFinished(() => ending.abort());
  return {
    get events() {
      return state.events;
    },
    get doubled() {
      return state.doubled;
    },
    haveAll: (eventId) => seenBy.every((seen) => seen.has(eventId)),
    countMissed: (feed) =>
      seenBy.reduce((missed, seen) => {
        const [firstAt = ''] = feed
          .filter(({ id }) => seen.has(id))
          .map(({ recordedAt }) => recordedAt)
          .sort();
        if (firstAt === '') return missed + feed.length;
        return missed + feed.filter(({ id, recordedAt }) => recordedAt > firstAt && !seen.has(id)).length;
      }, 0),
    end: () => ending.abort(),
  };
}
