import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { EventEmitter, once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { listenOn } from '../../http/server/engine/listener.ts';
import { App } from '../../http/server/engine/uws.ts';
import { createStreamOutput, type StreamOutput, waitingMax } from '../../http/server/events/streamOutput.ts';
import { eventually } from '../support/processes/childProcess.ts';

function listen(app: TemplatedApp): Promise<number> {
  const listener = listenOn(app);
  onTestFinished(() => listener.close());
  return listener.listen('127.0.0.1', 0);
}

/** A server that sends texts until a client that does not read has no room for more. */
async function startSender(characters: number) {
  const sent: string[] = [];
  const state = { isEnded: false };
  let nextText = 0;
  const fill = (output: StreamOutput) => {
    // More in each turn than uWebSockets.js gathers before it writes.
    for (let count = 0; count < 100; count++) {
      const text = `<${nextText++}`.padEnd(characters - 1, 'x').concat('>');
      if (!output.send(text)) {
        state.isEnded = true;
        return;
      }
      sent.push(text);
    }
  };
  const app = App();
  app.get('/', (response) => {
    let timer: NodeJS.Immediate | null = null;
    response.onAborted(() => output.stop());
    response.writeHeader('Content-Type', 'text/plain');
    let isEnding = false;
    const output = createStreamOutput(response, () => {
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
  const port = await listen(app);
  return { port, sent, state };
}

// For each length, the connection becomes full at a different place in a text.
it.each([333, 400, 700, 1_500, 4_000])(
  'texts of %i characters arrive whole and in order when the client reads late',
  async (characters) => {
    const { port, sent, state } = await startSender(characters);
    const request = get({ port, host: '127.0.0.1' });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await eventually(() => state.isEnded, 'a client for which too much waits');
    expect(sent.length).toBeGreaterThan(waitingMax);
    // Compared one by one: a difference between texts of megabytes would be printed whole.
    const received = (await readText(response)).match(/<[^>]*>/g) ?? [];
    expect(received.length).toBe(sent.length);
    expect(received.findIndex((text, index) => text !== sent[index])).toBe(-1);
  },
);

it.each([
  [
    'by the server',
    (output: StreamOutput, response: HttpResponse) => {
      output.stop();
      response.end();
    },
  ],
  [
    'by the server, in the middle of a text',
    (output: StreamOutput, response: HttpResponse) => {
      output.stop();
      response.close();
    },
  ],
])('a stream that ends %s while its next turn is scheduled writes nothing more', async (_by, end) => {
  const text = `<${'x'.repeat(1_000)}>`;
  const turns = { begun: 0 };
  const ended = new EventEmitter();
  const app = App();
  app.get('/', (response) => {
    response.onAborted(() => undefined);
    response.writeHeader('Content-Type', 'text/plain');
    const output = createStreamOutput(response, () => turns.begun++);
    output.cork(() => {
      // More than one turn writes, so the rest waits for the next turn.
      for (let count = 0; count < 20; count++) output.send(text);
      end(output, response);
    });
    // Runs after the scheduled turn.
    setImmediate(() => setImmediate(() => ended.emit('ended')));
  });
  const port = await listen(app);
  const over = once(ended, 'ended');
  const request = get({ port, host: '127.0.0.1' });
  const received = once(request, 'response')
    .then(
      ([response]) => readText(response as IncomingMessage),
      () => '',
    )
    .catch(() => '');
  await over;
  expect(turns.begun).toBe(0);
  const texts = (await received).match(/<x*>/g) ?? [];
  expect(texts.length).toBeLessThan(20);
});
