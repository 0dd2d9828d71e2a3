import { spreadDelay } from './spreadDelay.ts';

/** Wait before a refused stream is requested again. Browsers reconnect by themselves only after an interruption. */
const refusedBounds = { firstMs: 15_000, longestMs: 300_000 };

/**
 * Reads the event stream while the page is visible.
 *
 * @param types names of the events; none in a page without figures, which holds no stream.
 * @param onNews called for each event, and when the stream opens again, since events may have passed meanwhile.
 */
export function followEvents(types: () => readonly string[], onNews: () => void) {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let refusals = 0;
  let wasOpen = false;

  function connect() {
    const stream = new EventSource('/v1/events/stream');
    source = stream;
    stream.onopen = () => {
      refusals = 0;
      if (wasOpen) onNews();
      wasOpen = true;
    };
    stream.onerror = () => {
      if (stream.readyState !== EventSource.CLOSED) return;
      refusals += 1;
      timer = setTimeout(connect, spreadDelay(refusals, refusedBounds));
    };
    for (const type of types()) stream.addEventListener(type, onNews);
  }

  return {
    /** A hidden page holds no stream. */
    setVisible: (isVisible: boolean) => {
      if (isVisible === (source !== null)) return;
      if (isVisible) return types().length === 0 ? undefined : connect();
      clearTimeout(timer);
      source?.close();
      source = null;
    },
  };
}
