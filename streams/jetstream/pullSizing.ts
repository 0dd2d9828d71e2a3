/** Messages that are asked from the server ahead of the fold: bounded in number and, by what recent ones weigh, in bytes. */
export interface PullSizing {
  /** To ask for. */
  readonly messages: number;
  /** Notes a message; true when another number should be asked for from now on. */
  observe(bytes: number): boolean;
}

export interface PullBounds {
  readonly messages: number;
  readonly bytes: number;
}

/** So many messages in a row must be small enough before more are asked for. */
const windowMessages = 500;

/**
 * The client can bound what it asks for by number only. So the number follows the size: a message that is too large for it makes it smaller
 * at once, and a window of small ones makes it larger again.
 */
export function createPullSizing(bounds: PullBounds): PullSizing {
  let { messages } = bounds;
  let window = { count: 0, largest: 0 };
  const computeFitting = (bytes: number) =>
    Math.max(1, Math.min(bounds.messages, Math.floor(bounds.bytes / Math.max(1, bytes))));

  function resize(to: number): boolean {
    window = { count: 0, largest: 0 };
    const isOther = to !== messages;
    messages = to;
    return isOther;
  }

  return {
    get messages() {
      return messages;
    },
    observe: (bytes) => {
      // Half of the number is not worth another consumer.
      if (bytes * messages > bounds.bytes * 2) return resize(computeFitting(bytes));
      if (messages === bounds.messages) return false;
      window.count++;
      window.largest = Math.max(window.largest, bytes);
      if (window.count < windowMessages) return false;
      const larger = computeFitting(window.largest);
      return resize(larger >= messages * 2 ? larger : messages);
    },
  };
}
