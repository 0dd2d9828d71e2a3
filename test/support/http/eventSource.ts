import { whenFinished } from '../processes/lifetime.ts';
import { createMessageReader } from './messageReader.ts';

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

/** Opens an event source until the test ends, and collects its events. It starts to read when `mayRead` resolves. */
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
    const [decoder, read] = [new TextDecoder(), createMessageReader()];
    await mayRead;
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        for (const message of read(decoder.decode(chunk, { stream: true }))) {
          const [id = '', data] = [message.get('id'), message.get('data')];
          if (id !== '') state.lastId = id;
          if (data !== undefined)
            messages.push({ id, event: message.get('event') ?? 'message', data: JSON.parse(data) });
        }
      }
    } catch (error) {
      if (!ending.signal.aborted) state.failure = error;
    }
    state.isEnded = true;
  })();
  return { response, messages, state, end: () => ending.abort() };
}
