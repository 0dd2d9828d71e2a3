import { createRequire } from 'node:module';
import { EventSource } from 'eventsource';
import { createParser } from 'eventsource-parser';
import { openTab, openWindow, startBrowser } from '../explorer/browser.ts';
import { startProcess } from '../processes/childProcess.ts';
import { whenFinished } from '../processes/lifetime.ts';

/** Messages in the order in which a client received them: an event by its ID in the feed, and `position` for the position of the stream. */
type Received = string[];

/** Opens the event stream with a client that reconnects and resumes as its authors decided, until the test ends. */
type OpenClient = (url: string, eventType: string) => Promise<Received>;

type Listening = Pick<EventTarget, 'addEventListener'> & { close(): void };

const nameMessage = (data: string): string => JSON.parse(data).id ?? 'position';

function collect(source: Listening, eventType: string): Received {
  whenFinished(() => source.close());
  const received: Received = [];
  for (const type of ['position', eventType]) {
    source.addEventListener(type, ({ data }: Event & { readonly data?: string }) => {
      received.push(nameMessage(data ?? ''));
    });
  }
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
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        lastId = id ?? lastId;
        if (event === 'position' || event === eventType) received.push(nameMessage(data));
      },
    });
    curl.child.stdout?.on('data', (piece) => parser.feed(String(piece)));
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
  const { page } = await openTab(await openWindow(await startBrowser()), new URL('/docs', url).href);
  const received: Received = [];
  await page.exposeFunction('receive', (data: string) => received.push(nameMessage(data)));
  await page.evaluate(`{
    const source = new EventSource(${JSON.stringify(url)});
    for (const type of ${JSON.stringify(['position', eventType])})
      source.addEventListener(type, ({ data }) => receive(data));
  }`);
  return received;
}

/** Clients by the names of their programs. */
export const eventClients: Readonly<Record<string, OpenClient>> = {
  'event-source-polyfill (npm)': async (url, eventType) => collect(new EventSourcePolyfill(url), eventType),
  'eventsource (npm)': async (url, eventType) => collect(new EventSource(url), eventType),
  'curl -N': followWithCurl,
  'EventSource of Chromium': followInBrowser,
};
