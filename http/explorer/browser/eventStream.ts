import { spreadDelay } from '../../client/spreadDelay.ts';
import { eventTypes } from '../format/events.ts';
import type { Connection, FeedEvent } from '../page.ts';
import type { Channel, Message } from './channel.ts';

interface EventStream {
  /** Called when the tab is shown or hidden. A hidden tab holds no stream. */
  setVisible(isVisible: boolean): void;
  receive(message: Message): void;
}

interface EventStreamOptions {
  readonly channel: Channel;
  readonly onEvent: (event: FeedEvent) => void;
  readonly onState: (state: Connection['stream']) => void;
  /** Called when the stream opens again. Events may have passed meanwhile. */
  readonly onOpen: () => void;
}

/** Wait before a refused stream is requested again. Browsers reconnect by themselves only after an interruption. */
const refusedBounds = { firstMs: 15_000, longestMs: 300_000 };

/**
 * One event stream per browser: the tab that holds a lock reads it and forwards its events to the others. Without TLS, except on
 * localhost, browsers have no locks, and each visible tab reads a stream of its own.
 */
export function createEventStream({ channel, onEvent, onState, onOpen }: EventStreamOptions): EventStream {
  /** Aborts waiting for the lock, or releases it; null while the tab is hidden. */
  let turn: AbortController | null = null;
  let isHolder = false;
  let isOpen = false;

  function announce(next: boolean) {
    isOpen = next;
    channel.post({ kind: 'stream', isOpen });
    onState(isOpen ? 'open' : 'connecting');
  }

  function read(signal: AbortSignal): Promise<void> {
    isHolder = true;
    let refusals = 0;
    let source: EventSource | null = null;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const connect = () => {
      onState('connecting');
      source = new EventSource('/v1/events/stream');
      source.onopen = () => {
        refusals = 0;
        announce(true);
        onOpen();
      };
      source.onerror = () => {
        announce(false);
        if (source?.readyState !== EventSource.CLOSED) return;
        refusals += 1;
        timer = setTimeout(connect, spreadDelay(refusals, refusedBounds));
      };
      for (const type of eventTypes) {
        source.addEventListener(type, ({ data }: MessageEvent<string>) => {
          const event: FeedEvent = JSON.parse(data);
          channel.post({ kind: 'event', event });
          onEvent(event);
        });
      }
    };
    connect();
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        source?.close();
        isHolder = false;
        isOpen = false;
        resolve();
      });
    });
  }

  function take(signal: AbortSignal) {
    // The types claim that it always exists.
    const locks: LockManager | undefined = navigator.locks;
    if (locks === undefined) return void read(signal);
    channel.post({ kind: 'stream?' });
    locks
      .request('explorer event stream', { signal }, () => read(signal))
      .catch((error: unknown) => {
        // The tab was hidden while it waited for the lock.
        if (!signal.aborted) throw error;
      });
  }

  return {
    setVisible: (isVisible) => {
      if (isVisible === (turn !== null)) return;
      if (isVisible) {
        turn = new AbortController();
        onState('connecting');
        take(turn.signal);
      } else {
        turn?.abort();
        turn = null;
        onState('closed');
      }
    },
    receive: (message) => {
      if (message.kind === 'stream?' && isHolder) channel.post({ kind: 'stream', isOpen });
      if (message.kind === 'stream' && !isHolder && turn !== null)
        onState(message.isOpen ? 'shared' : 'connecting');
      if (message.kind === 'event') onEvent(message.event);
    },
  };
}
