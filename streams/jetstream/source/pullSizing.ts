/** Messages that are requested from the server ahead of the fold: bounded in number and in bytes. */
export interface PullSizing {
  /** How many to request. */
  readonly messages: number;
  /** Of these, how many may still be under way when more are requested. */
  readonly threshold: number;
  /** The bound of one request. */
  readonly requestBytes: number;
  /** Records a message; true when another number should be requested from now on. */
  observe(bytes: number): boolean;
}

export interface PullBounds {
  readonly messages: number;
  readonly bytes: number;
}

/** Requests that are under way at a time, at most: more is requested when half is delivered, and the server serves requests in turn. */
export const requestsUnderWay = 4;
/** One is read while the next is under way. */
const fewestMessages = 2;
/** This many consecutive messages must be small enough before more are requested. */
const windowMessages = 500;

/**
 * The server ends a request that its bytes exhaust, and the consumer with it, so the number follows the size: a message that is too large reduces it
 * at once, and a window of small ones increases it again.
 */
export function createPullSizing(bounds: PullBounds): PullSizing {
  const requestBytes = Math.floor(bounds.bytes / requestsUnderWay);
  let { messages } = bounds;
  let window = { count: 0, largest: 0 };
  // Half of a request, so that somewhat larger messages change nothing.
  const computeFitting = (bytes: number) =>
    Math.max(fewestMessages, Math.min(bounds.messages, Math.floor(requestBytes / 2 / Math.max(1, bytes))));

  function resize(to: number): boolean {
    window = { count: 0, largest: 0 };
    const isChanged = to !== messages;
    messages = to;
    return isChanged;
  }

  return {
    get messages() {
      return messages;
    },
    get threshold() {
      return Math.floor(messages / 2);
    },
    requestBytes,
    observe: (bytes) => {
      // A change by less than half is not worth another consumer.
      if (bytes * messages > requestBytes) return resize(computeFitting(bytes));
      if (messages === bounds.messages) return false;
      window.count++;
      window.largest = Math.max(window.largest, bytes);
      if (window.count < windowMessages) return false;
      const larger = computeFitting(window.largest);
      return resize(larger >= messages * 2 ? larger : messages);
    },
  };
}
