import type { SimulatedResponse } from '../world/currentWorld.ts';
import { SimulationFailure } from './failure.ts';

/** Of each process and path: the same tag goes with the same body, and another body with another tag. */
interface TagObserver {
  note(process: string, path: string, response: SimulatedResponse): void;
}

export function observeTags(): TagObserver {
  const bodies = new Map<string, string>();
  const newest = new Map<string, { readonly tag: string; readonly body: string }>();
  return {
    note: (process, path, { status, headers, body }) => {
      const tag = headers.get('etag');
      // The tag of telemetry names the reading alone.
      if (status !== 200 || tag === undefined || path.endsWith('/telemetry')) return;
      // The time at which a body was made, and at which the window of statistics ends for now, are not part of what it says (CONTRACT.md, Caching).
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
