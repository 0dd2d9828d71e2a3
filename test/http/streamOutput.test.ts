import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { listenOn } from '../../http/server/engine/listener.ts';
import { App, selectTransport } from '../../http/server/engine/uws.ts';
import { createStreamOutput, type StreamOutput } from '../../http/server/events/streamOutput.ts';
import { eventually } from '../support/processes/lifetime.ts';

const textsMax = 4_200;

/** A server that sends texts, more than a client that does not read has room for. */
async function startSender(characters: number) {
  const sent: string[] = [];
  const state = { isEnded: false };
  const fill = (output: StreamOutput) => {
    // More in each turn than uWebSockets.js gathers before it writes.
    for (let count = 0; count < 100 && !state.isEnded; count++) {
      const text = `<${sent.length}`.padEnd(characters - 1, 'x').concat('>');
      output.send(text);
      state.isEnded = sent.push(text) === textsMax;
    }
  };
  const app = App();
  app.get('/', (response) => {
    let timer: NodeJS.Immediate | null = null;
    response.onAborted(() => output.stop());
    response.writeHeader('Content-Type', 'text/plain');
    let isEnding = false;
    const output = createStreamOutput(selectTransport(), response, () => {
      if (!state.isEnded || isEnding) return;
      isEnding = true;
      output.stop();
      response.end();
    });
    const sendMore = () => {
      output.cork(() => fill(output));
      if (!state.isEnded) timer = setImmediate(sendMore);
    };
    timer = setImmediate(sendMore);
    onTestFinished(() => {
      if (timer !== null) clearImmediate(timer);
    });
  });
  const listener = listenOn(app);
  onTestFinished(() => listener.close());
  return { port: await listener.listen('127.0.0.1', 0), sent, state };
}

// For each length, the connection becomes full at a different place in a text.
it.each([333, 400, 700, 1_500, 4_000])(
  'texts of %i characters arrive whole and in order when the client reads late',
  async (characters) => {
    const { port, sent, state } = await startSender(characters);
    const request = get({ port, host: '127.0.0.1' });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await eventually(() => state.isEnded, 'all texts');
    // Compared one by one: a difference between texts of megabytes would be printed whole.
    const received = (await readText(response)).match(/<[^>]*>/g) ?? [];
    expect(received.length).toBe(sent.length);
    expect(received.findIndex((text, index) => text !== sent[index])).toBe(-1);
  },
);
