import { renderToString } from 'preact-render-to-string';
import { App } from './App.tsx';
import { PageContext } from './components/pageContext.ts';
import { describeEvent, eventTypes } from './format/events.ts';
import type { PageRequest, ReadBody, RenderPage } from './page.ts';
import { describePage } from './pageTitle.ts';
import { findFeed, formatPlace, type Place } from './place.ts';
import { corePath, statusPath } from './resources.ts';
import { Embed } from './views/Embed.tsx';

/** How often an open page asks for itself, in seconds: where the wheel's speed is shown, as often as a person sees a difference. */
const refreshSeconds = (place: Place) => (place.view === 'glance' || place.view === 'embed' ? 5 : 30);

/** Renders a complete page, with current figures. Its script asks for the same page again, and changes what has changed (`browser/`). */
export const renderPage: RenderPage = ({
  place,
  nowMs,
  settings,
  events,
  holder,
  read: readBody,
}: PageRequest) => {
  let isComplete = events !== null;
  let expiresAtMs = Number.POSITIVE_INFINITY;
  const read = ((_name, path) => {
    const body = readBody(path);
    if (body === null) isComplete = false;
    // The path belongs to the route of this name (`resources.ts`).
    return body;
  }) as ReadBody;
  const page = {
    place,
    read,
    settings,
    renderedAtMs: nowMs,
    expireAt: (atMs: number) => {
      expiresAtMs = Math.min(expiresAtMs, atMs);
    },
  };
  const isEmbedded = place.view === 'embed';
  const body = renderToString(
    <PageContext.Provider value={page}>
      {isEmbedded ? <Embed /> : <App place={place} events={events} holder={holder} />}
    </PageContext.Provider>,
  );
  const status = read('status', statusPath);
  const { title, icon } = describePage(place, status);
  const { files, publicUrl } = settings;
  const [event] = events ?? [];
  const description = event === undefined ? about : describeEvent(event).sentence;
  const address = place.view === 'missing' || publicUrl === null ? null : `${publicUrl}${formatPlace(place)}`;
  const feed = findFeed(place);
  const head = renderToString(
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{title}</title>
      <meta name="description" content={description} />
      <meta name="referrer" content="no-referrer" />
      <meta name="color-scheme" content="light dark" />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={description} />
      <meta property="og:type" content="website" />
      {address !== null && <meta property="og:url" content={address} />}
      {/* Previews need absolute URLs. */}
      {publicUrl !== null && <meta property="og:image" content={`${publicUrl}${files['preview.png']}`} />}
      {publicUrl !== null && <meta name="twitter:card" content="summary_large_image" />}
      {address !== null && <link rel="canonical" href={address} />}
      <link rel="icon" id="icon" type="image/svg+xml" href={files[icon]} />
      <link rel="manifest" href="/manifest.webmanifest" />
      {feed !== null && <link rel="alternate" type="application/atom+xml" href={feed} />}
      <link rel="stylesheet" href={files['style.css']} />
      {isEmbedded && (
        <noscript>
          <meta http-equiv="refresh" content="60" />
        </noscript>
      )}
      {/* Not a module: browsers request modules with an Origin header, which the service refuses (CONTRACT.md, Origins). */}
      <script defer src={files['page.js']} />
    </head>,
  );
  const core = read('core', corePath);
  const settled =
    core?.status === 'available'
      ? [core.identities.core, core.core.settledThroughRound, core.chain.safeThroughBlock].join(' ')
      : undefined;
  const attributes = {
    'data-refresh-seconds': refreshSeconds(place),
    'data-rendered-at': new Date(nowMs).toISOString(),
    'data-event-types': eventTypes.join(' '),
    'data-settled': settled,
    'data-title': title,
    'data-icon': files[icon],
    'data-lost-title': ['Not connected', ...title.split(' · ').slice(1)].join(' · '),
    'data-lost-icon': files['wheel-stale.svg'],
  };
  const written = renderToString(<body {...attributes} />).replace('</body>', '');
  return {
    html: `<!doctype html>\n<html lang="en">${head}${written}${body}</body></html>\n`,
    isComplete,
    expiresAtMs,
  };
};

const about =
  'A physical wheel, its work, and what becomes of it: measured, optimistic, settled on Ethereum, issued as tokens. Live, and only what is known.';
