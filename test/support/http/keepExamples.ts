import type { z } from 'zod';
import { feedEvent } from '../../../http/responses/feed/feedEvent.ts';
import type { Examples } from '../../../http/routes/documentation/examples.ts';
import { nameBody } from '../../../http/routes/route.ts';
import { routes } from '../../../http/routes/routes.ts';
import { parseStream } from './recordExamples.ts';

/** Examples that were recorded earlier, as far as they fit today's schemas, and the new ones of everything else. */
export function keepExamples(earlier: Examples, recorded: Examples): Examples {
  const bodies = routes.map((route) => {
    const id = nameBody(route);
    const old: Readonly<Record<string, unknown>> = { ...earlier.bodies[id] };
    const pairs = Object.entries(recorded.bodies[id] ?? {}).map(([kind, body]) => [
      kind,
      keepBody(old[kind], body, route.response),
    ]);
    return [id, Object.fromEntries(pairs)];
  });
  const fits = parseStream(earlier.eventStream).every(({ data }) => feedEvent.safeParse(data).success);
  return {
    bodies: Object.fromEntries(bodies),
    eventStream: fits ? earlier.eventStream : recorded.eventStream,
  };
}

/** The earlier body; the same with the members of a new one; or the new one: the first that fits the schema. */
export function keepBody(earlier: unknown, body: unknown, schema: z.ZodType): unknown {
  return [earlier, takeMembers(earlier, body)].find((one) => schema.safeParse(one).success) ?? body;
}

/** Values of `earlier` in the form of `body`. Items of a list get the form of the first one of their type. */
function takeMembers(earlier: unknown, body: unknown): unknown {
  if (Array.isArray(earlier) && Array.isArray(body))
    return earlier.map((item) => takeMembers(item, body.find((one) => one?.type === item?.type) ?? item));
  if (!isObject(earlier) || !isObject(body)) return earlier;
  const pairs = Object.entries(body).map(([name, member]) => [
    name,
    name in earlier ? takeMembers(earlier[name], member) : member,
  ]);
  return Object.fromEntries(pairs);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
