import type { ComponentChildren } from 'preact';

export type Severity = 'note' | 'warning' | 'fault';

/** A sentence that qualifies the figures below it. */
export function Banner({
  severity,
  title,
  children,
}: {
  severity: Severity;
  title: string;
  children: ComponentChildren;
}) {
  return (
    <div class={`banner ${severity}`} role="status">
      <strong>{title}</strong> <span>{children}</span>
    </div>
  );
}

/** In the place of figures that there are none of, with the reason. */
export function Unavailable({
  title = 'Not available',
  children,
}: {
  title?: string;
  children: ComponentChildren;
}) {
  return (
    <div class="unavailable">
      <strong>{title}.</strong> {children}
    </div>
  );
}
