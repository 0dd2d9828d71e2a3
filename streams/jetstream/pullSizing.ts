/** Messages that are requested from the server ahead of the fold: bounded in number and, by the size of recent ones, in bytes. */
export interface PullSizing {
  /** How many to request. */
  readonly messages: number;
  /** Records a message; true when another number should be requested from now on. */
  observe(bytes: number): boolean;
}

export interface PullBounds {
  readonly messages: number;
  readonly bytes: number;
}

/** This many consecutive messages must be small enough before more are requested. */
const windowMessages = 500;

/**
 * The client can bound its requests by number only, so the number follows the size: a message that is too large reduces it
 * at once, and a window of small ones increases it again.
 */
export function createPullSizing(bounds: PullBounds): PullSizing {
  let { messages } = bounds;
  let window = { count: 0, largest: 0 };
  const computeFitting = (bytes: number) =>
    Math.max(1, Math.min(bounds.messages, Math.floor(bounds.bytes / Math.max(1, bytes))));

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
    observe: (bytes) => {
      // A change by less than half is not worth another consumer.
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
