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

/** Replaces a body that the service does not have at the moment. */
export function Unread({ what }: { what: string }) {
  return (
    <Unavailable>
      {what} cannot be shown at the moment: the service is starting, or rebuilding it.
    </Unavailable>
  );
}

type ChainBody =
  | { readonly status: 'available' }
  | { readonly status: 'unavailable'; readonly reason: string };
type AvailableBody<Body> = Extract<Body, { readonly status: 'available' }>;

/** What a route of the chain shows, or the reason why it shows nothing. */
export function Available<Body extends ChainBody>({
  what,
  body,
  children,
}: {
  what: string;
  body: Body | null;
  children: (body: AvailableBody<Body>) => ComponentChildren;
}) {
  if (body === null) return <Unread what={what} />;
  if (body.status === 'unavailable') return <Unavailable>{explain(body.reason)}</Unavailable>;
  // The status was checked above.
  return <>{children(body as AvailableBody<Body>)}</>;
}

/** Says that the chain is unreachable and the settlement history below is from its last known state. */
export function LastKnownHistory({ core, safeBlock }: { core: Bodies['core'] | null; safeBlock: string }) {
  if (core?.status !== 'unavailable') return null;
  return (
    <Banner severity="warning" title={`Last known state, of Ethereum block ${formatInteger(safeBlock)}.`}>
      {explain(core.reason)}
    </Banner>
  );
}
