import { render } from 'preact';
import { App } from '../App.tsx';
import type { PageActions } from '../components/pageContext.ts';
import type { Zone } from '../format/times.ts';
import type { Connection, PageSettings, ResourceName } from '../page.ts';
import { describePage } from '../pageTitle.ts';
import { formatPlace, type Place, parsePlace } from '../place.ts';
import { openChannel } from './channel.ts';
import { createEventStream } from './eventStream.ts';
import { followLinks } from './links.ts';
import { createPoller } from './poller.ts';
import { createStore } from './store.ts';

/** Takes over the server's page once it has read the resources that the page shows. */
async function start() {
  const { body } = document;
  // Written by `renderPage`.
  const settings: PageSettings = JSON.parse(body.dataset.settings ?? '{}');
  const reads: [string, ResourceName][] = JSON.parse(body.dataset.reads ?? '[]');
  let connection: Connection = { isOnline: navigator.onLine, stream: 'closed' };
  let serviceOffsetMs = 0;
  let zone = readZone();
  let isStarted = false;
  let isRenderPending = false;
  const listeners = new Set<() => void>();

  const scheduleRender = () => {
    if (!isStarted || isRenderPending) return;
    isRenderPending = true;
    // Not an animation frame, since hidden tabs have none, and their icon and title must be true too.
    setTimeout(() => {
      isRenderPending = false;
      renderAll();
    });
  };
  const store = createStore(scheduleRender, () => {
    if (isStarted) setTimeout(() => poller.tick());
  });
  const channel = openChannel(settings.files['explorer.js'] ?? '', (message) => {
    poller.receive(message);
    stream.receive(message);
  });
  const poller = createPoller({
    store,
    channel,
    isHidden: () => document.hidden,
    isFollower: () => connection.stream === 'shared',
    onServiceTime: (generatedAt) => {
      serviceOffsetMs = Date.parse(generatedAt) - Date.now();
    },
  });
  const setConnection = (change: Partial<Connection>) => {
    connection = { ...connection, ...change };
    scheduleRender();
  };
  const stream = createEventStream({
    channel,
    onState: (state) => setConnection({ stream: state }),
    onOpen: () => poller.expire(({ name }) => name === 'events'),
    onEvent: (event) => {
      store.addEvent(event);
      if (event.source.kind === 'chain') poller.expire(({ name }) => !['events', 'metadata'].includes(name));
    },
  });

  const actions: PageActions = {
    clock: {
      nowMs: () => Date.now() + serviceOffsetMs,
      everySecond: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    loadMore: (path, cursor) => {
      poller.readPage(path, cursor).then(
        (page) => store.append(path, page),
        () => poller.expire((entry) => entry.path === path),
      );
    },
    download,
    chooseZone: (chosen) => {
      zone = chosen;
      keepZone(zone);
      renderAll();
    },
  };

  function go(place: Place) {
    history.pushState(null, '', formatPlace(place));
    show();
    document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  function show() {
    renderAll();
    poller.tick();
  }

  function renderAll() {
    const place = parsePlace(location.pathname, location.search);
    const { read } = store;
    store.beginRender();
    const reversal = store.reversal();
    const renderedAtMs = actions.clock.nowMs();
    render(<App page={{ place, read, settings, renderedAtMs, actions, connection, zone, reversal }} />, body);
    const { title, icon } = describePage(place, read, connection);
    if (document.title !== title) document.title = title;
    const link = document.querySelector<HTMLLinkElement>('#icon');
    const href = settings.files[icon];
    if (link !== null && href !== undefined && link.getAttribute('href') !== href) link.href = href;
  }

  for (const [path, name] of reads) store.read(name, path);
  // Other tabs may have these resources already.
  channel.post({ kind: 'wanted', paths: reads.map(([path]) => path) });
  await new Promise((resolve) => setTimeout(resolve, answerMs));
  await poller.readAll();
  // Before the first rendering, which would otherwise be followed by another one at once.
  stream.setVisible(!document.hidden);
  isStarted = true;
  renderAll();

  followLinks(go);
  addEventListener('popstate', show);
  addEventListener('online', () => {
    setConnection({ isOnline: true });
    poller.expire(() => true);
  });
  addEventListener('offline', () => setConnection({ isOnline: false }));
  const noticeVisibility = () => {
    stream.setVisible(!document.hidden);
    if (!document.hidden) poller.tick();
  };
  document.addEventListener('visibilitychange', noticeVisibility);
  addEventListener('pagehide', () => stream.setVisible(false));
  addEventListener('pageshow', noticeVisibility);
  setInterval(() => {
    poller.tick();
    if (!document.hidden) for (const listener of listeners) listener();
  }, 1_000);
}

/** How long a new tab waits for the resources of other tabs. */
const answerMs = 30;

const zoneKey = 'zone';

/** A browser may refuse storage. Then the choice lasts as long as the page. */
function readZone(): Zone {
  try {
    return localStorage.getItem(zoneKey) === 'local' ? 'local' : 'UTC';
  } catch {
    return 'UTC';
  }
}

function keepZone(zone: Zone) {
  try {
    localStorage.setItem(zoneKey, zone);
  } catch {}
}

function download(fileName: string, contentType: string, text: string) {
  const url = URL.createObjectURL(new Blob([text], { type: contentType }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

void start();
