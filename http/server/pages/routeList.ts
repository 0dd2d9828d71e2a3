import { listTopics } from '../../routes/documentation/machineTexts.ts';
import type { createOpenApiDocument } from '../../routes/documentation/openApi.ts';

/** Writes the routes of the OpenAPI document as HTML, by topic, with their schemas: the reference for visitors without script. */
export function listRoutes(openApi: ReturnType<typeof createOpenApiDocument>): string {
  const topics = listTopics(openApi).map(
    ({ description, operations }) =>
      `<h2>${escapeMarkup(description)}</h2>\n<dl>\n${operations.map(describeRoute).join('\n')}\n</dl>`,
  );
  return `<article class="guide-text routes">
<h1>Reference of all routes</h1>
<p>Every parameter, member and error is in <a href="/openapi.json">the OpenAPI document</a>. With JavaScript, routes can be tried out here.</p>
${topics.join('\n')}
</article>`;
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

type Operation = ReturnType<typeof listTopics>[number]['operations'][number];

function describeRoute({ path, summary = '', parameters = [], responses = {} }: Operation): string {
  const names = parameters.flatMap((parameter) =>
    'in' in parameter && parameter.in === 'query' ? [`<code>${escapeMarkup(parameter.name)}</code>`] : [],
  );
  const { 200: found } = responses;
  const [, schema] =
    /\]\((\/schemas\/[^)]*)\)/.exec((found as { description?: string })?.description ?? '') ?? [];
  const details = [
    `${escapeMarkup(summary)}.`,
    names.length === 0 ? '' : `Parameters: ${names.join(', ')}.`,
    schema === undefined ? '' : `<a href="${schema}">Schema of the body</a>.`,
  ];
  return `<dt><code>GET ${escapeMarkup(path)}</code></dt>\n<dd>${details.filter((detail) => detail !== '').join(' ')}</dd>`;
}
