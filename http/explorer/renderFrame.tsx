import type { ComponentChildren } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { Links } from './components/Footer.tsx';
import { Frame } from './components/Frame.tsx';
import { Head, Retry, retrySeconds, Script } from './components/Head.tsx';
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
    <Frame header={<Bar logo="" current="docs" />} footer={<Links />} html={html} />,
  );
}

const titles: Readonly<Record<string, string>> = {
  rate_limited: 'Too many requests',
  database_busy: 'Busy at the moment',
  database_unavailable: 'Not available at the moment',
  public_stats_rebuilding: 'Not available at the moment',
  request_timeout: 'This took too long',
  internal_error: 'Something went wrong',
  invalid_query: 'No such page of the list',
  invalid_cursor: 'No such page of the list',
  cursor_invalidated: 'The list has moved on',
  not_found: 'Not found',
};
const listErrors: readonly string[] = ['invalid_query', 'invalid_cursor', 'cursor_invalidated'];

/** Renders the page for an error; null for an error that only programs get. It is the same for every request. */
export function renderRefusal({ code, settings }: RefusalRequest): string | null {
  const heading = titles[code];
  if (heading === undefined) return null;
  const title = `${heading} · Mining activity`;
  const isOfList = listErrors.includes(code);
  const isPassing = !isOfList && code !== 'not_found';
  return write(
    <Head title={title} description={heading} address={null} icon="wheel-stale.svg" settings={settings}>
      {isPassing && <Script files={settings.files} />}
      {isPassing && <Retry />}
    </Head>,
    <Frame header={<Bar logo="" current={null} />} footer={<Links />}>
      <section aria-labelledby="refused">
        <h1 id="refused">{heading}</h1>
        <p class="lead">
          {explain(code)} {isPassing && 'This page will try again in a few seconds.'}
        </p>
        <p class="more">
          {/* Relative to the address of this page, which is rendered for all addresses. */}
          {isPassing && (
            // biome-ignore lint/a11y/useValidAnchor: the address of this page
            <a href="">Try again</a>
          )}
          {isOfList && <a href="?">First page</a>} <a href="/">To the wheel</a>
        </p>
      </section>
    </Frame>,
    // Its script asks for the page that was meant, until it is there.
    isPassing
      ? {
          'data-refresh-seconds': retrySeconds,
          'data-title': title,
          'data-icon': settings.files['wheel-stale.svg'],
        }
      : {},
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
