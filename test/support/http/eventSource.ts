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
  const state = { text: '', isEnded: false, lastId: '', failure: null as unknown };
  void (async () => {
    const decoder = new TextDecoder();
    await mayRead;
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        state.text += decoder.decode(chunk, { stream: true });
        for (let end = state.text.indexOf('\n\n'); end >= 0; end = state.text.indexOf('\n\n')) {
          const block = state.text.slice(0, end);
          state.text = state.text.slice(end + 2);
          const lines = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
          state.lastId = lines.get('id') ?? state.lastId;
          if (lines.has('data'))
            messages.push({
              id: lines.get('id') as string,
              event: lines.get('event') ?? 'message',
              data: JSON.parse(lines.get('data') as string),
            });
        }
      }
    } catch (error) {
      if (!ending.signal.aborted) state.failure = error;
    }
    state.isEnded = true;
  })();
  return { response, messages, state, end: () => ending.abort() };
}
