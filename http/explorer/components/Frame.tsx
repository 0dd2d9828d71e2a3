import type { ComponentChildren } from 'preact';

interface FrameProps {
  readonly header: ComponentChildren;
  readonly footer: ComponentChildren;
  readonly children?: ComponentChildren;
  readonly html?: string;
}

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
