import { dayMs } from '../../../actors/schemas/durations.ts';
import guidePages from '../../guides/pages.json' with { type: 'json' };
import { topics } from '../route.ts';
import { routes } from '../routes.ts';

/** Everything may be read; the event stream does not end, so nobody should try to fetch all of it. */
export const robotsText = 'User-agent: *\nDisallow: /v1/events/stream\n';

/** RFC 9116 recommends less than a year. */
const securityTextDays = 180;

/** Where to report a weakness (RFC 9116). The same all day, so that its tag is. */
export function writeSecurityText(contact: string, nowMs: number): string {
  const expires = new Date((Math.floor(nowMs / dayMs) + securityTextDays) * dayMs).toISOString();
  return `Contact: ${contact}\nExpires: ${expires.replace('.000', '')}\nPreferred-Languages: en\n`;
}

/** What a language model needs to know before it reads the rest (llmstxt.org). */
export function writeModelText(): string {
  const sections = Object.entries(topics).map(([topic, description]) => {
    const listed = routes
      .filter((route) => route.topic === topic)
      .map(({ path, summary }) => `- [GET ${path}](${path}): ${summary}`);
    return `## ${description}\n\n${listed.join('\n')}`;
  });
  return `${[
    '# Mining Activity Read Service',
    '> Mining activity of a physical wheel, read-only, as JSON over HTTP. Four stages are kept apart: measured (what the device counted), optimistic (what would settle), settled (what the ' +
      'chain recorded), issued (what was minted for it). A stage must not be taken for another one, and they must not be added up.',
    '- `status: "unavailable"` and null mean that a value is not known. It is not zero, not empty and not a failure.\n' +
      '- Amounts and counters are decimal strings of integers up to 256 bits; `...BaseUnits` are divided by ten to the power of the asset’s `decimals`.\n' +
      '- Views of the chain are read at its safe block: `chain.safeThroughBlock` says how far, `generatedAt` does not.\n' +
      '- No request needs a credential. `ETag` with `If-None-Match` costs little; 429 and 503 say in `Retry-After` how long to wait.',
    '## Reference\n\n- [OpenAPI 3.1](/openapi.json): every route, member, unit and error\n- [The same as a page](/docs/reference)\n- [Pages for people](/)',
    `## Guides\n\n${guidePages.map(({ name, title }) => `- [${title}](/docs/${name})`).join('\n')}`,
    ...sections,
  ].join('\n\n')}\n`;
}
