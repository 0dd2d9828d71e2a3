import type { ComponentChildren } from 'preact';

interface FrameProps {
  readonly header: ComponentChildren;
  readonly footer: ComponentChildren;
  /** The content, as components or as HTML. */
  readonly children?: ComponentChildren;
  readonly html?: string;
}

/** What all pages for people have around their content. */
export function Frame({ header, footer, children, html }: FrameProps) {
  return (
    <>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header>{header}</header>
      {html === undefined ? (
        <main id="content" tabIndex={-1}>
          {children}
        </main>
      ) : (
        <main id="content" tabIndex={-1} dangerouslySetInnerHTML={{ __html: html }} />
      )}
      <footer>{footer}</footer>
    </>
  );
}
