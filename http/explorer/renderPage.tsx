import { renderToString } from 'preact-render-to-string';
import { formatPlace, type Place } from '../addresses/place.ts';
import { App } from './App.tsx';
import { Head, Retry, Script } from './components/Head.tsx';
import { PageContext } from './components/pageContext.ts';
import { Time } from './components/Time.tsx';
import { describePage } from './describePage.ts';
import { eventTypes } from './format/events.ts';
import type { PageRequest, ReadBody, RenderPage } from './page.ts';
import { listProblems } from './problems.ts';
import { corePath, findMainPath, listRecordEvents, statusPath } from './resources.ts';

export { renderFrame, renderRefusal } from './renderFrame.tsx';

/**
 * How often an open page asks for itself, in seconds, unless an event happens: more often where the wheel's speed is shown, unless the page has figures
 * of an owner, which cost a list. The service closes a connection after ten idle seconds, and another one would cost more than an answer.
 */
const refreshSeconds = (place: Place) => (place.view === 'glance' && place.owner === undefined ? 8 : 30);

/** Renders a complete page, with current figures. Its script asks for the same page again, and changes what has changed (`browser/`). */
export const renderPage: RenderPage = (request: PageRequest) => {
  const { place, nowMs, settings, chain, old, read: readBody } = request;
  let isComplete = true;
  let expiresAtMs = Number.POSITIVE_INFINITY;
  const read: ReadBody = (name, path) => {
    const body = readBody(name, path);
    if (body === null) isComplete = false;
    return body;
  };
  const expireAt = (atMs: number) => {
    expiresAtMs = Math.min(expiresAtMs, atMs);
  };
  const renderBody = () =>
    renderToString(
      <PageContext.Provider
        value={{ ...request, read, expireAt, sources: [], problems: listProblems({ ...request, read }) }}
      >
        <App place={place} />
      </PageContext.Provider>,
    );
  const complete = renderBody();
  // The header names what is old, which is known once everything is read.
  const body = old.size === 0 ? complete : renderBody();
  const status = read('status', statusPath);
  // Without a chain the events of a record are never known, and the page says so.
  if (chain !== null && 'id' in place && listRecordEvents(place.view, place.id, read) === null)
    isComplete = false;
  const { title, sharedTitle, description, icon } = describePage({ ...request, status, read });
  const { files, publicUrl } = settings;
  const address = place.view === 'missing' || publicUrl === null ? null : `${publicUrl}${formatPlace(place)}`;
  const json = findMainPath(place);
  const head = renderToString(
    <Head
      title={title}
      sharedTitle={sharedTitle}
      description={description}
      address={address}
      icon={icon}
      settings={settings}
    >
      {json !== null && <link rel="alternate" type="application/json" href={json} />}
      <Script files={files} />
      {!isComplete && <Retry />}
    </Head>,
  );
  const core = read('core', corePath);
  // The last known state may be older than what the page has shown.
  const isSettledKnown = core?.status === 'available' && chain?.reason === null;
  const settled = isSettledKnown ? `${core.identities.core} ${core.core.settledThroughRound}` : undefined;
  const safeBlock = isSettledKnown ? core.chain.safeThroughBlock : undefined;
  const renderedAt = new Date(nowMs).toISOString();
  const attributes = {
    'data-refresh-seconds': refreshSeconds(place),
    'data-rendered-at': renderedAt,
    'data-event-types': eventTypes.join(' '),
    'data-settled': settled,
    'data-safe-block': safeBlock,
    'data-title': title,
    'data-icon': files[icon],
    'data-lost-title': ['Not connected', ...title.split(' · ').slice(1)].join(' · '),
    'data-lost-icon': files['wheel-stale.svg'],
  };
  const written = renderToString(<body {...attributes} />).replace('</body>', '');
  const html = `<!doctype html>\n<html lang="en">${head}${written}${body}</body></html>\n`;
  return {
    html,
    shown: html
      .replaceAll(renderToString(<Time at={renderedAt} as="minute" />), '')
      .replaceAll(renderedAt, '')
      .replace(/(<time [^>]*data-as="ago"[^>]*>)[^<]*/g, '$1')
      .replace(` data-safe-block="${safeBlock}"`, ''),
    isComplete,
    expiresAtMs,
  };
};
