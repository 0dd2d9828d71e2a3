import type { ComponentChildren } from 'preact';
import { formatInteger } from '../format/numbers.ts';
import { explain } from '../format/words.ts';
import type { Bodies } from '../page.ts';

export function Banner({
  severity,
  title,
  children,
}: {
  severity: 'note' | 'warning';
  title: string;
  children: ComponentChildren;
}) {
  return (
    <div class={`banner ${severity}`} role="status">
      <strong>{title}</strong> <span>{children}</span>
    </div>
  );
}

/** Replaces figures that are unavailable, with the reason. */
export function Unavailable({ children }: { children: ComponentChildren }) {
  return (
    <div class="unavailable">
      <strong>Not available.</strong> {children}
    </div>
  );
}

/** Says that the chain is unreachable and the settlement history below is from its last known state. */
export function LastKnownHistory({ core, safeBlock }: { core: Bodies['core'] | null; safeBlock: string }) {
  if (core?.status !== 'unavailable') return null;
  return (
    <Banner severity="warning" title={`Last known state, of block ${formatInteger(safeBlock)}.`}>
      {explain(core.reason)}
    </Banner>
  );
}
