import morphdom from 'morphdom';
import type { Zone } from '../format/times.ts';
import { connectCharts } from './charts.ts';
import { followEvents } from './events.ts';
import { type Connection, createRefresher } from './refresher.ts';
import { watchReversals } from './reversal.ts';
import { findPassed, showClocks, showTimes } from './times.ts';

/**
 * Keeps a page fresh that the server has rendered (`renderPage.tsx`): asks for the same page again and changes what has changed, so focus, open tables,
 * scroll and selection stay. A page that cannot be read again does not change.
 */
function start() {
  const { body, documentElement: root } = document;
  let zone = readZone();
  let shownAt = body.dataset.renderedAt ?? '';
  /** The visitor's own clock may be wrong. Until the first answer, the page's time stands for the service's. */
  let serviceOffsetMs = Date.parse(shownAt) - Date.now();
  let passed: string | null = null;

  const nowMs = () => Date.now() + serviceOffsetMs;
  const prepare = (page: ParentNode) => showTimes(page, zone, nowMs());
  const showCharts = connectCharts(() => zone);
  const noticeReversal = watchReversals(body);

  function apply(html: string) {
    const next = new DOMParser().parseFromString(html, 'text/html');
    // Another version of the service: its page needs its own script and styles.
    if (findScript(next) !== findScript(document)) return location.reload();
    prepare(next);
    morphdom(body, next.body, { onBeforeElUpdated: beforeUpdate });
    showHead(body.dataset.title, body.dataset.icon);
    showCharts();
    noticeReversal();
    // A page that was refused at first has figures now.
    events.setVisible(!document.hidden);
  }

  function setConnection(connection: Connection) {
    if (connection === 'live') shownAt = new Date(nowMs()).toISOString();
    if (root.dataset.connection === connection) return;
    root.dataset.connection = connection;
    for (const element of document.querySelectorAll<HTMLTimeElement>('.shown-at time'))
      element.dateTime = shownAt;
    prepare(document);
    if (connection === 'lost') showHead(body.dataset.lostTitle, body.dataset.lostIcon);
    else showHead(body.dataset.title, body.dataset.icon);
  }

  const refresher = createRefresher({
    apply,
    onConnection: setConnection,
    onServiceTime: (date) => {
      const atMs = Date.parse(date);
      if (!Number.isNaN(atMs)) serviceOffsetMs = atMs - Date.now();
    },
    intervalMs: () => (document.hidden ? hiddenMs : Number(body.dataset.refreshSeconds) * 1_000),
  });
  const events = followEvents(() => body.dataset.eventTypes?.split(' ') ?? [], refresher.expire);

  root.dataset.connection = 'live';
  if (wasKept()) refresher.ask();
  prepare(document);
  showCharts();
  events.setVisible(!document.hidden);
  setInterval(() => {
    showClocks(document, nowMs());
    const end = findPassed(document, nowMs());
    if (end !== null && end !== passed) refresher.expire();
    passed = end;
    refresher.tick();
  }, 1_000);

  const noticeVisibility = () => {
    events.setVisible(!document.hidden);
    if (!document.hidden) refresher.tick();
  };
  document.addEventListener('visibilitychange', noticeVisibility);
  addEventListener('pageshow', noticeVisibility);
  addEventListener('pagehide', () => events.setVisible(false));
  addEventListener('online', refresher.ask);
  addEventListener('offline', () => setConnection('lost'));
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element) || target.closest('#zone-choice') === null) return;
    zone = zone === 'UTC' ? 'local' : 'UTC';
    keepZone(zone);
    prepare(document);
    showCharts();
  });
}

/** A hidden page's icon and title stay true. */
const hiddenMs = 60_000;

/** Leaves what the visitor has typed, chosen or opened. @returns whether the shown element is changed at all. */
function beforeUpdate(shown: HTMLElement, next: HTMLElement): boolean {
  if (shown instanceof HTMLInputElement) return false;
  if (shown instanceof HTMLDetailsElement) next.toggleAttribute('open', shown.open);
  return !shown.isEqualNode(next);
}

/** Whether the browser had this page already: its time may be old, even if nothing else has changed. */
function wasKept(): boolean {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return navigation !== undefined && navigation.transferSize < navigation.encodedBodySize;
}

const findScript = (page: Document) => page.querySelector('script[src]')?.getAttribute('src');

function showHead(title = document.title, iconPath?: string) {
  if (document.title !== title) document.title = title;
  const icon = document.querySelector<HTMLLinkElement>('#icon');
  if (icon !== null && iconPath !== undefined && icon.getAttribute('href') !== iconPath) icon.href = iconPath;
}

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

start();
