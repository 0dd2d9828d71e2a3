import { createRequire } from 'node:module';
import { EventSource } from 'eventsource';
import { openPage, openWindow, startBrowser } from '../explorer/browser.ts';
import { startProcess } from '../processes/childProcess.ts';
import { whenFinished } from '../processes/lifetime.ts';
import { createMessageReader } from './messageReader.ts';

/** Events by their IDs in the feed, in the order in which a client received them. */
type Received = string[];

/** Opens the event stream with a client that reconnects and resumes as its authors decided, until the test ends. */
type OpenClient = (url: string, eventType: string) => Promise<Received>;

type Listening = Pick<EventTarget, 'addEventListener'> & { close(): void };

function collect(source: Listening, eventType: string): Received {
  whenFinished(() => source.close());
  const received: Received = [];
  source.addEventListener(eventType, ({ data }: Event & { readonly data?: string }) => {
    received.push(JSON.parse(data ?? '').id);
  });
  return received;
}

const { EventSourcePolyfill } = createRequire(import.meta.url)('event-source-polyfill') as {
  readonly EventSourcePolyfill: new (url: string) => Listening;
};

/** `curl -N`, again and again, with the last ID that it has printed. */
async function followWithCurl(url: string, eventType: string): Promise<Received> {
  const received: Received = [];
  let lastId = '';
  let isEnding = false;
  whenFinished(() => {
    isEnding = true;
  });
  const runOnce = async () => {
    const header = lastId === '' ? [] : ['-H', `Last-Event-ID: ${lastId}`];
    const curl = startProcess('curl', ['-sN', ...header, url]);
    const read = createMessageReader();
    curl.child.stdout?.on('data', (piece) => {
      for (const message of read(String(piece))) {
        lastId = message.get('id') ?? lastId;
        const data = message.get('data');
        if (data !== undefined && message.get('event') === eventType) received.push(JSON.parse(data).id);
      }
    });
    await curl.exited;
  };
  void (async () => {
    while (!isEnding) {
      await runOnce();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  })();
  return received;
}

/** The `EventSource` of Chromium, in a page of the server. */
async function followInBrowser(url: string, eventType: string): Promise<Received> {
  const { page } = await openPage(await openWindow(await startBrowser()), new URL('/docs', url).href);
  const received: Received = [];
  await page.exposeFunction('receive', (data: string) => received.push(JSON.parse(data).id));
  await page.evaluate(`new EventSource(${JSON.stringify(url)})
    .addEventListener(${JSON.stringify(eventType)}, ({ data }) => receive(data))`);
  return received;
}

/** Clients by the names of their programs. */
export const eventClients: Readonly<Record<string, OpenClient>> = {
  'event-source-polyfill (npm)': async (url, eventType) => collect(new EventSourcePolyfill(url), eventType),
  'eventsource (npm)': async (url, eventType) => collect(new EventSource(url), eventType),
  'curl -N': followWithCurl,
  'EventSource of Chromium': followInBrowser,
};
