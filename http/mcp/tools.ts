import { z } from 'zod';
import { type Route, topics } from '../routes/route.ts';
import { routes } from '../routes/routes.ts';

/** A tool for a language model: one route of the service. */
interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: Readonly<Record<string, z.ZodType>>;
  /** Builds the path and query of the request. */
  readonly path: (input: Readonly<Record<string, unknown>>) => string;
}

/** A path with the segment `.` or `..`, even encoded, would name another route (WHATWG URL, path state). */
const pathValue = z
  .string()
  .refine((value) => !/^\.{1,2}$/.test(value), 'is . or .., which no path can hold');

/** Each resource once: without the public routes that repeat a plain one. */
export const tools: readonly Tool[] = routes
  .filter(({ path }) => !/^\/v[24]\/public\//.test(path))
  .map(describeTool);

function describeTool(route: Route): Tool {
  const query = typeof route.query === 'string' ? [] : route.query;
  const { pathParameter } = route;
  return {
    name: route.operationId,
    description: `${route.summary}. ${topics[route.topic]}.`,
    input: {
      ...(pathParameter === null ? {} : { [pathParameter.name]: pathValue }),
      ...Object.fromEntries(
        query.map(({ name, schema, description, isRequired }) => [
          name,
          (isRequired ? schema : schema.optional()).describe(description),
        ]),
      ),
    },
    path: (input) => {
      const path = route.path.replace(/\{(\w+)\}/, (_, name: string) =>
        encodeURIComponent(String(input[name])),
      );
      const given = query.flatMap(({ name }) =>
        input[name] === undefined ? [] : [[name, String(input[name])] as [string, string]],
      );
      return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
    },
  };
}
