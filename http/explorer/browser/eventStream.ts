import { spreadDelay } from '../../client/spreadDelay.ts';
import type { Connection } from '../components/pageContext.ts';
import { eventTypes } from '../format/events.ts';
import type { FeedEvent } from '../page.ts';
import type { Channel, Message } from './channel.ts';

interface EventStream {
  /** Called when the tab is shown or hidden: a hidden tab holds no stream. */
  setVisible(isVisible: boolean): void;
  receive(message: Message): void;
}

interface EventStreamOptions {
  readonly channel: Channel;
  readonly onEvent: (event: FeedEvent) => void;
  readonly onState: (state: Connection['stream']) => void;
  /** The stream is open after it was not: events may have passed meanwhile. */
  readonly onOpen: () => void;
}

/** A stream that the service refuses is asked for again after this; browsers reconnect by themselves only where it broke off. */
const refusedBounds = { firstMs: 15_000, longestMs: 300_000 };

/**
 * One event stream per browser: the tab that holds a lock reads it, and forwards its events to the others. Where the page is not served over
 * TLS or from this machine, browsers have no locks, and each visible tab reads its own.
 */
export function createEventStream({ channel, onEvent, onState, onOpen }: EventStreamOptions): EventStream {
  /** Of the tab that waits for the lock, or holds it; null while hidden. */
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
    // In the types it is always there.
    const locks: LockManager | undefined = navigator.locks;
    if (locks === undefined) return void read(signal);
    channel.post({ kind: 'stream?' });
    locks
      .request('explorer event stream', { signal }, () => read(signal))
      .catch((error: unknown) => {
        // Aborted while it waited for the lock: the tab was hidden.
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
