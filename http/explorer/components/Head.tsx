import type { ComponentChildren } from 'preact';
import type { PageSettings } from '../page.ts';

interface HeadProps {
  readonly title: string;
  /** Title of shared links, which says nothing that changes. */
  readonly sharedTitle?: string;
  readonly description: string;
  /** Public URL of the page; null if it has none or it is not known. */
  readonly address: string | null;
  readonly icon: string;
  readonly settings: Pick<PageSettings, 'files' | 'publicUrl'>;
  readonly children?: ComponentChildren;
}

/** How long after a failure a page is asked for again. */
export const retrySeconds = 10;

export function Head({
  title,
  sharedTitle = title,
  description,
  address,
  icon,
  settings: { files, publicUrl },
  children,
}: HeadProps) {
  return (
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <title>{title}</title>
      <meta name="description" content={description} />
      <meta name="referrer" content="no-referrer" />
      <meta name="color-scheme" content="light dark" />
      <meta property="og:title" content={sharedTitle} />
      <meta property="og:description" content={description} />
      <meta property="og:type" content="website" />
      {address !== null && <meta property="og:url" content={address} />}
      {/* Previews need absolute URLs. */}
      {publicUrl !== null && <meta property="og:image" content={`${publicUrl}${files['preview.png']}`} />}
      {publicUrl !== null && <meta name="twitter:card" content="summary_large_image" />}
      {address !== null && <link rel="canonical" href={address} />}
      <link rel="icon" id="icon" type="image/svg+xml" href={files[icon]} />
      <link rel="stylesheet" href={files['style.css']} />
      {children}
    </head>
  );
}

/** Reads a page again that could not be read. The page's script asks for it in its own way. */
export function Retry() {
  return (
    <noscript>
      <meta httpEquiv="refresh" content={String(retrySeconds)} />
    </noscript>
  );
}

/** Not a module: browsers request modules with an Origin header, which the service refuses (CONTRACT.md, Origins). */
export function Script({ files }: Pick<PageSettings, 'files'>) {
  return <script defer src={files['page.js']} />;
}
