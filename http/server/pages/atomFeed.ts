import { describeEvent } from '../../explorer/format/events.ts';
import { writeSentence } from '../../explorer/format/sentence.ts';
import type { Bodies } from '../../explorer/page.ts';
import { formatPlace } from '../../explorer/place.ts';

type Feed = Extract<Bodies['events'], { status: 'available' }>;

const titles: Readonly<Record<Feed['category'], string>> = {
  all: 'everything',
  protocol: 'settling and minting',
  players: 'owners',
  measurement: 'the wheel',
};

/**
 * Writes the newest events of a category as an Atom feed (RFC 4287).
 *
 * @param publicUrl base of all links, which are relative without it.
 * @param nowMs when an empty feed was updated.
 */
export function writeAtomFeed(feed: Feed, publicUrl: string | null, nowMs: number): string {
  const { installationId, category, events } = feed;
  const base = publicUrl ?? '';
  const entries = events.map((event) => {
    const { title, sentence } = describeEvent(event);
    const address = base + formatPlace({ view: 'event', id: event.id });
    return `<entry><id>${escapeXml(event.id)}</id><title>${escapeXml(title)}</title><updated>${event.recordedAt}</updated><published>${event.occurredAt}</published><link rel="alternate" type="text/html" href="${escapeXml(address)}"/><summary>${escapeXml(writeSentence(sentence))}</summary></entry>\n`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>mining-activity:${escapeXml(installationId)}:${category}</id>
<title>Mining activity of ${escapeXml(installationId)}: ${titles[category]}</title>
<updated>${events[0]?.recordedAt ?? new Date(nowMs).toISOString()}</updated>
<author><name>${escapeXml(installationId)}</name></author>
<link rel="self" type="application/atom+xml" href="${base}/feed.atom?category=${category}"/>
<link rel="alternate" type="text/html" href="${base}${formatPlace({ view: 'feed', category })}"/>
${entries.join('')}</feed>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
