import type { ComponentChildren } from 'preact';
import { formatDuration } from '../format/times.ts';
import { explain } from '../format/words.ts';
import type { Resource } from '../page.ts';
import { Banner, Unavailable } from './Banner.tsx';
import { useNowMs, usePage } from './pageContext.ts';

/** Says why a resource is not shown, or that it is older than it should be. Renders nothing while all is well. */
export function ResourceNotice({ what, resource }: { what: string; resource: Resource<unknown> }) {
  const { actions } = usePage();
  const nowMs = useNowMs();
  const { body, problem } = resource;
  if (problem === null) {
    if (body !== null) return null;
    return actions === null ? (
      <Unavailable>
        {what} cannot be shown at the moment: the service is starting, or rebuilding it.
      </Unavailable>
    ) : (
      <p class="loading" role="status">
        {what}: loading…
      </p>
    );
  }
  // The header says that the connection is lost, once for all resources.
  if (problem.status === 0)
    return body === null ? <Unavailable>{what} could not be read yet.</Unavailable> : null;
  const waitSeconds = nowMs === null ? 0 : Math.ceil((problem.retryAtMs - nowMs) / 1000);
  const retry = waitSeconds > 0 ? ` Trying again in ${formatDuration(waitSeconds)}.` : ' Trying again now.';
  const kept = body === null ? '' : ' What is shown is from before.';
  return (
    <Banner
      severity={problem.status === 429 ? 'note' : 'warning'}
      title={`${what}: ${nameProblem(problem.status)}.`}
    >
      {explain(problem.code)}
      {kept}
      {retry}
    </Banner>
  );
}

type ChainBody =
  | { readonly status: 'available' }
  | { readonly status: 'unavailable'; readonly reason: string };
type AvailableBody<Body> = Extract<Body, { readonly status: 'available' }>;

/** A resource of the chain: its notice, the reason why it is unavailable, or its content. */
export function Available<Body extends ChainBody>({
  what,
  resource,
  children,
}: {
  what: string;
  resource: Resource<Body>;
  children: (body: AvailableBody<Body>) => ComponentChildren;
}) {
  const { body } = resource;
  return (
    <>
      <ResourceNotice what={what} resource={resource} />
      {body?.status === 'unavailable' && <Unavailable>{explain(body.reason)}</Unavailable>}
      {/* The status was checked above. */}
      {body?.status === 'available' && children(body as AvailableBody<Body>)}
    </>
  );
}

function nameProblem(status: number): string {
  if (status === 429) return 'asked too often';
  if (status === 503 || status === 504) return 'not available for a moment';
  return `answered with ${status}`;
}
