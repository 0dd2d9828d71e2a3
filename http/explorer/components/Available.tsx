import type { ComponentChildren } from 'preact';
import { explain } from '../format/words.ts';

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

/** A body with figures; null if it has none at the moment. */
export function findAvailable<Body extends ChainBody>(body: Body | null): AvailableBody<Body> | null {
  // The status is checked here.
  return body?.status === 'available' ? (body as AvailableBody<Body>) : null;
}

/** Content from a route of the chain, or the reason why it is missing. */
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
