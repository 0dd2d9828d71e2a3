import { createParser } from 'eventsource-parser';
import { whenFinished } from '../processes/lifetime.ts';

/** An event as the stream sends it. */
export interface Message {
  readonly id: string;
  readonly event: string;
  readonly data: {
    readonly id: string;
    readonly type: string;
    readonly payload: Readonly<Record<string, string>>;
  };
}

/**
 * Opens an event source until the test ends, and collects its events. It starts to read when `mayRead` resolves. `lastId` is the ID of its last
 * message, also of a position.
 */
export async function listen(
  base: string,
  path = '/v1/events/stream',
  headers: Record<string, string> = {},
  mayRead: Promise<void> = Promise.resolve(),
) {
  const ending = new AbortController();
  whenFinished(() => ending.abort());
  const response = await fetch(`${base}${path}`, { headers, signal: ending.signal });
  const messages: Message[] = [];
  const state = { isEnded: false, lastId: '', failure: null as unknown };
  void (async () => {
    const decoder = new TextDecoder();
    const parser = createParser({
      onEvent: ({ id = '', event = 'message', data }) => {
        state.lastId = id;
        if (event !== 'position') messages.push({ id, event, data: JSON.parse(data) });
      },
    });
    await mayRead;
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
        parser.feed(decoder.decode(chunk, { stream: true }));
    } catch (error) {
      if (!ending.signal.aborted) state.failure = error;
    }
    state.isEnded = true;
  })();
  return { response, messages, state, end: () => ending.abort() };
}
