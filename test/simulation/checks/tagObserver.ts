import type { SimulatedResponse } from '../world/currentWorld.ts';
import { SimulationFailure } from './failure.ts';

/** Checks for each process and path that equal tags have equal bodies, and different bodies have different tags. */
export function observeTags() {
  const bodies = new Map<string, string>();
  const newest = new Map<string, { readonly tag: string; readonly body: string }>();
  return {
    note: (process: string, path: string, { status, headers, body }: SimulatedResponse) => {
      const tag = headers.get('etag');
      // Telemetry's tag depends only on the reading.
      if (status !== 200 || tag === undefined || path.endsWith('/telemetry')) return;
      // The time of the computation and the end of the statistics' window do not count (CONTRACT.md, Caching).
      const text = body.toString('utf8').replace(/"(?:generatedAt|endAt)":"[^"]*"/g, '');
      const before = bodies.get(`${process} ${path} ${tag}`);
      if (before !== undefined && before !== text)
        throw new SimulationFailure(
          'tags',
          `${process} ${path}: two bodies have the tag ${tag}: ${before} and ${text}`,
        );
      bodies.set(`${process} ${path} ${tag}`, text);
      const last = newest.get(`${process} ${path}`);
      if (last !== undefined && last.body === text && last.tag !== tag)
        throw new SimulationFailure(
          'tags',
          `${process} ${path}: the tag has changed and the body has not: ${text}`,
        );
      newest.set(`${process} ${path}`, { tag, body: text });
    },
  };
}
