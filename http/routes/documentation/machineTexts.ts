import { dayMs } from '../../../actors/schemas/durations.ts';
import guidePages from '../../guides/pages.json' with { type: 'json' };
import type { createOpenApiDocument } from './openApi.ts';

/** Crawlers may read everything except the event stream, which never ends. */
export const robotsText = 'User-agent: *\nDisallow: /v1/events/stream\n';

/** RFC 9116 recommends less than a year. */
const securityTextDays = 180;

/** Text that says where to report a weakness (RFC 9116). It stays the same for a day, and so does its tag. */
export function writeSecurityText(contact: string, nowMs: number): string {
  const expires = new Date((Math.floor(nowMs / dayMs) + securityTextDays) * dayMs).toISOString();
  return `Contact: ${contact}\nExpires: ${expires.replace('.000', '')}\nPreferred-Languages: en\n`;
}

type OpenApi = ReturnType<typeof createOpenApiDocument>;
type Operation = NonNullable<NonNullable<OpenApi['paths']>[string]['get']>;

/** The operations of the OpenAPI document by topic, in its order. */
export function listTopics({ tags = [], paths = {} }: OpenApi) {
  return tags.map(({ name, description = name }) => ({
    description,
    operations: Object.entries(paths).flatMap(([path, { get }]): (Operation & { readonly path: string })[] =>
      get?.tags?.includes(name) === true ? [{ ...get, path }] : [],
    ),
  }));
}

/** Introduction to the service for language models (llmstxt.org). */
export function writeModelText(openApi: OpenApi): string {
  const sections = listTopics(openApi).map(({ description, operations }) => {
    const listed = operations.map(({ path, summary }) => `- [GET ${path}](${path}): ${summary}`);
    return `## ${description}\n\n${listed.join('\n')}`;
  });
  return `${[
    '# Mining Activity Read Service',
    '> Mining activity of a physical wheel, read-only, as JSON over HTTP. Work has four separate stages: measured (counted by the device), optimistic (would settle), settled (recorded on ' +
      'the chain), issued (rewards minted for it). Do not mistake one stage for another, and do not add them up.',
    '- `status: "unavailable"` and null mean that a value is unknown. They do not mean zero, empty or failed.\n' +
      '- Amounts and counters are decimal strings of integers up to 256 bits. Divide `...BaseUnits` by ten to the power of the asset’s `decimals`.\n' +
      '- Chain data is read at the safe block: `chain.safeThroughBlock` says how far; `generatedAt` does not.\n' +
      '- No request needs a credential. Polling with `ETag` and `If-None-Match` is cheap. After 429 and 503, wait for the seconds in `Retry-After`.',
    '## Reference\n\n- [OpenAPI 3.1](/openapi.json): every route, member, unit and error\n- [The reference as a page](/docs/reference)\n- [Pages for people](/)',
    `## Guides\n\n${guidePages.map(({ name, title }) => `- [${title}](/docs/${name})`).join('\n')}`,
    ...sections,
  ].join('\n\n')}\n`;
}
