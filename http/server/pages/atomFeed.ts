import { describeEvent } from '../../explorer/format/events.ts';
import { describeOwnerEvent, type OwnerEvent } from '../../explorer/format/ownerEvents.ts';
import { type Sentence, writeSentence } from '../../explorer/format/sentence.ts';
import type { Bodies, FeedEvent, MinerHolder, ReadBody } from '../../explorer/page.ts';
import { findFeed, formatPlace, type Place, parsePlace } from '../../explorer/place.ts';
import { listMinerPaths, listOwnerPaths, statusPath } from '../../explorer/resources.ts';
import { parseOwner } from '../../routes/ownerAddress.ts';
import { minerId } from './findPlace.ts';

type Feed = Extract<Bodies['events'], { status: 'available' }>;
type FeedPlace = Extract<Place, { readonly view: 'feed' }>;
export type OwnerOrMiner =
  | { readonly view: 'owners'; readonly address: string }
  | { readonly view: 'miner'; readonly id: string };

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly sentence: Sentence;
  readonly updatedAt: string;
  readonly publishedAt: string;
  /** Path of a page about it. */
  readonly path: string;
}

/** A list of what happened, newest first. */
interface AtomFeed {
  readonly installationId: string;
  /** End of the feed's ID. */
  readonly name: string;
  readonly title: string;
  readonly place: Place;
  readonly entries: readonly Entry[];
}

/** Returns what a feed is about, by the query of its address: a category, an owner or a miner; null for an owner or miner that cannot be. */
export function findFeedSubject(query: string): FeedPlace | OwnerOrMiner | null {
  const parameters = new URLSearchParams(query);
  const [owner, miner] = [parameters.get('owner'), parameters.get('miner')];
  if (owner !== null) {
    const address = parseOwner(owner);
    return address === null ? null : { view: 'owners', address };
  }
  if (miner !== null) return minerId.test(miner) ? { view: 'miner', id: miner } : null;
  const place = parsePlace('/feed', query);
  return place.view === 'feed' ? place : null;
}

const titles: Readonly<Record<Feed['category'], string>> = {
  all: 'everything',
  protocol: 'settling and minting',
  players: 'owners',
  measurement: 'the wheel',
};

/** The newest events of a category. */
export function describeCategoryFeed({ installationId, category, events }: Feed): AtomFeed {
  return {
    installationId,
    name: category,
    title: titles[category],
    place: { view: 'feed', category },
    entries: events.map(describeFeedEvent),
  };
}

/** The newest events of an owner or a miner; null if it cannot be read at the moment. */
export function describeRecordFeed(
  subject: OwnerOrMiner,
  { events, holder }: { events: readonly FeedEvent[] | null; holder: MinerHolder | null },
  read: ReadBody,
): AtomFeed | null {
  const installationId = read('status', statusPath)?.installationId;
  if (installationId === undefined) return null;
  if (subject.view === 'owners') {
    const { address } = subject;
    const entries = listOwnerEntries(address, listOwnerPaths(address), read);
    if (entries === null) return null;
    return { installationId, name: address, title: `owner ${address}`, place: subject, entries };
  }
  const { id } = subject;
  const transfers =
    holder === null
      ? []
      : listOwnerEntries(
          holder.address,
          listMinerPaths(holder),
          read,
          ({ kind, tokenIds }) => kind === 'transfer' && tokenIds.includes(id),
        );
  if (events === null || transfers === null) return null;
  const entries = [...events.map(describeFeedEvent), ...transfers].sort((a, b) =>
    a.publishedAt < b.publishedAt ? 1 : -1,
  );
  return { installationId, name: `miner:${id}`, title: `miner ${id}`, place: subject, entries };
}

/**
 * Writes an Atom feed (RFC 4287).
 *
 * @param publicUrl base of all links, which are relative without it.
 * @param nowMs when an empty feed was updated.
 */
export function writeAtomFeed(feed: AtomFeed, publicUrl: string | null, nowMs: number): string {
  const { installationId, name, title, place } = feed;
  const base = publicUrl ?? '';
  const entries = feed.entries.map(
    (entry) =>
      `<entry><id>${escapeXml(entry.id)}</id><title>${escapeXml(entry.title)}</title><updated>${entry.updatedAt}</updated><published>${entry.publishedAt}</published><link rel="alternate" type="text/html" href="${escapeXml(base + entry.path)}"/><summary>${escapeXml(writeSentence(entry.sentence))}</summary></entry>\n`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>mining-activity:${escapeXml(installationId)}:${name}</id>
<title>Mining activity of ${escapeXml(installationId)}: ${title}</title>
<updated>${feed.entries[0]?.updatedAt ?? new Date(nowMs).toISOString()}</updated>
<author><name>${escapeXml(installationId)}</name></author>
<link rel="self" type="application/atom+xml" href="${base}${findFeed(place)}"/>
<link rel="alternate" type="text/html" href="${base}${formatPlace(place)}"/>
${entries.join('')}</feed>
`;
}

function describeFeedEvent(event: FeedEvent): Entry {
  const { id, recordedAt: updatedAt, occurredAt: publishedAt } = event;
  return { id, ...describeEvent(event), updatedAt, publishedAt, path: formatPlace({ view: 'event', id }) };
}

/** The first page of an owner's activity; null if it cannot be read. */
function listOwnerEntries(
  owner: string,
  paths: ReturnType<typeof listOwnerPaths> | ReturnType<typeof listMinerPaths>,
  read: ReadBody,
  isListed: (event: OwnerEvent) => boolean = () => true,
): Entry[] | null {
  const activity = read('activity', paths.activity);
  const portfolio = read('portfolio', 'position' in paths ? paths.position : paths.positions);
  if (activity?.status !== 'available' || portfolio?.status !== 'available') return null;
  return activity.activity.filter(isListed).map((event) => {
    const { id, source } = event;
    const at = source.blockTimestamp;
    const path = `${formatPlace({ view: 'owners', address: owner })}#${id}`;
    return {
      id,
      ...describeOwnerEvent(event, owner, portfolio.configuration),
      updatedAt: at,
      publishedAt: at,
      path,
    };
  });
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
