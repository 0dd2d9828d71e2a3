import { renderToString } from 'preact-render-to-string';
import { App } from './App.tsx';
import { PageContext } from './components/pageContext.ts';
import { describeEvent } from './format/events.ts';
import type { Bodies, PageRequest, RenderPage, Resource, ResourceName } from './page.ts';
import { describePage } from './pageTitle.ts';
import { formatPlace } from './place.ts';
import { Embed } from './views/Embed.tsx';
import { Missing, RecordPage } from './views/records/Record.tsx';

/**
 * Renders a complete page on the server, with current figures, that works without script. The script renders the same page over it once
 * it has read the resources listed in `data-reads`.
 */
export const renderPage: RenderPage = ({ place, nowMs, settings, events, read: readBody }: PageRequest) => {
  const reads = new Map<string, ResourceName>();
  const known = new Map<string, Resource<unknown>>();
  const read = <Name extends ResourceName>(name: Name, route: string): Resource<Bodies[Name]> => {
    reads.set(route, name);
    const resource = known.get(route) ?? { body: readBody(route), problem: null };
    known.set(route, resource);
    // The path belongs to the route of this name (`resources.ts`).
    return resource as Resource<Bodies[Name]>;
  };
  const page = {
    place,
    read,
    settings,
    renderedAtMs: nowMs,
    actions: null,
    connection: null,
    zone: 'UTC' as const,
    reversal: null,
  };
  const content =
    'id' in place ? (
      <RecordPage {...place} events={events} />
    ) : place.view === 'missing' ? (
      <Missing place={place} />
    ) : undefined;
  const isEmbedded = place.view === 'embed';
  const body = renderToString(
    isEmbedded ? (
      <PageContext.Provider value={page}>
        <Embed />
      </PageContext.Provider>
    ) : (
      <App page={page}>{content}</App>
    ),
  );
  const { title, icon } = describePage(place, read, null);
  const { files, publicUrl } = settings;
  const [event] = events ?? [];
  const description = event === undefined ? about : describeEvent(event).sentence;
  const address = place.view === 'missing' || publicUrl === null ? null : `${publicUrl}${formatPlace(place)}`;
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
      {place.view === 'feed' && (
        <link rel="alternate" type="application/atom+xml" href={`/feed.atom?category=${place.category}`} />
      )}
      <link rel="stylesheet" href={files['style.css']} />
      {isEmbedded && (
        <noscript>
          <meta http-equiv="refresh" content="60" />
        </noscript>
      )}
      {/* Not a module: browsers request modules with an Origin header, which the service refuses (CONTRACT.md, Origins). */}
      {content === undefined && <script defer src={files[isEmbedded ? 'embed.js' : 'explorer.js']} />}
    </head>,
  );
  const attributes = [
    `data-reads="${escapeAttribute(JSON.stringify([...reads]))}"`,
    `data-settings="${escapeAttribute(JSON.stringify(settings))}"`,
  ];
  return `<!doctype html>\n<html lang="en">${head}<body ${attributes.join(' ')}>${body}</body></html>\n`;
};

const about =
  'A physical wheel, its work, and what becomes of it: measured, optimistic, settled on Ethereum, issued as tokens. Live, and only what is known.';

function escapeAttribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
