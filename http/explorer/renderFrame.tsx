import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { Links } from './components/Footer.tsx';
import { Head, Script } from './components/Head.tsx';
import { Bar } from './components/Header.tsx';
import { explain } from './format/words.ts';
import type { FrameRequest, RefusalRequest } from './page.ts';

const icon = 'wheel-turning.svg';

export function renderFrame(request: FrameRequest): string {
  const { title, description, path, html, styles, scripts, settings } = request;
  const address = settings.publicUrl === null ? null : settings.publicUrl + path;
  return write(
    <Head title={title} description={description} address={address} icon={icon} settings={settings}>
      {styles.map((style) => (
        <link key={style} rel="stylesheet" href={style} />
      ))}
      {scripts.map((script) => (
        <script key={script} defer src={script} />
      ))}
    </Head>,
    <Frame
      current="docs"
      main={<main id="content" tabIndex={-1} dangerouslySetInnerHTML={{ __html: html }} />}
    />,
  );
}

const later = { advice: 'Wait a few seconds.', way: 'again' } as const;
const fromBeginning = { advice: 'Start from the first page of the list.', way: 'beginning' } as const;

/** Errors that a person gets as a page, by their codes, and the way on from there. */
const refusals: Readonly<
  Record<
    string,
    { readonly title: string; readonly advice: string; readonly way: 'again' | 'beginning' | null }
  >
> = {
  rate_limited: { title: 'Too many requests', ...later },
  database_busy: { title: 'Busy at the moment', ...later },
  database_unavailable: { title: 'Not available at the moment', ...later },
  public_stats_rebuilding: { title: 'Not available at the moment', ...later },
  request_timeout: { title: 'This took too long', ...later },
  internal_error: {
    title: 'Something went wrong',
    advice: 'The service has logged it.',
    way: 'again',
  },
  invalid_query: { title: 'No such page of the list', ...fromBeginning },
  invalid_cursor: { title: 'No such page of the list', ...fromBeginning },
  cursor_invalidated: { title: 'The list has moved on', ...fromBeginning },
  not_found: {
    title: 'Not found',
    advice: 'Follow a link above, or use the search.',
    way: null,
  },
};

/** Renders the page for an error; null for an error that only programs get. It is the same for every request. */
export function renderRefusal({ code, settings }: RefusalRequest): string | null {
  const refusal = refusals[code];
  if (refusal === undefined) return null;
  const title = `${refusal.title} · Mining activity`;
  const isPassing = refusal.way === 'again';
  return write(
    <Head title={title} description={refusal.title} address={null} icon="wheel-stale.svg" settings={settings}>
      {isPassing && <Script files={settings.files} />}
    </Head>,
    <Frame
      current={null}
      main={
        <main id="content" tabIndex={-1}>
          <section aria-labelledby="refused">
            <h1 id="refused">{refusal.title}</h1>
            <p class="lead">
              {explain(code)} {refusal.advice}
            </p>
            {refusal.way !== null && (
              <p class="more">
                {/* Relative to the address of this page, which is rendered for all addresses. */}
                {isPassing ? (
                  // biome-ignore lint/a11y/useValidAnchor: the address of this page
                  <a href="">Try again</a>
                ) : (
                  <a href="?">First page</a>
                )}{' '}
                <a href="/">To the wheel</a>
              </p>
            )}
          </section>
        </main>
      }
    />,
    // Its script asks for the page that was meant, until it is there.
    isPassing
      ? { 'data-refresh-seconds': 10, 'data-title': title, 'data-icon': settings.files['wheel-stale.svg'] }
      : {},
  );
}

function Frame({ current, main }: { current: 'docs' | null; main: ComponentChildren }) {
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <Bar logo="" current={current} />
      </header>
      {main}
      <footer>
        <Links />
      </footer>
    </>
  );
}

function write(head: ComponentChildren, body: ComponentChildren, attributes: object = {}): string {
  const html = renderToString(
    <html lang="en">
      {head}
      <body {...attributes}>{body}</body>
    </html>,
  );
  return `<!doctype html>\n${html}\n`;
}
