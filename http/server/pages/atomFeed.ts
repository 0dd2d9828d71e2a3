import { describeEvent } from '../../explorer/format/events.ts';
import { describeOwnerEvent, type OwnerEvent } from '../../explorer/format/ownerEvents.ts';
import { type Sentence, writeSentence } from '../../explorer/format/sentence.ts';
import type { Bodies, FeedEvent, ReadBody } from '../../explorer/page.ts';
import { findFeed, formatPlace, type Place, parsePlace } from '../../explorer/place.ts';
import { listOwnerPaths, recordPath, statusPath } from '../../explorer/resources.ts';
import { parseOwner } from '../../routes/ownerAddress.ts';
import { minerPath } from '../../routes/recordPaths.ts';
import { escapeMarkup } from './escapeMarkup.ts';

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
  if (miner !== null) return minerPath.parse(miner) !== null ? { view: 'miner', id: miner } : null;
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
export function describeRecordFeed(subject: OwnerOrMiner, read: ReadBody): AtomFeed | null {
  const installationId = read('status', statusPath)?.installationId;
  const entries = listEntries(subject, read);
  if (installationId === undefined || entries === null) return null;
  const [name, title] =
    subject.view === 'owners'
      ? [subject.address, `owner ${subject.address}`]
      : [`miner:${subject.id}`, `miner ${subject.id}`];
  return { installationId, name, title, place: subject, entries };
}

/** Null if they cannot be read. */
function listEntries(subject: OwnerOrMiner, read: ReadBody): Entry[] | null {
  if (subject.view === 'owners') {
    const { address } = subject;
    const paths = listOwnerPaths(address);
    const [activity, portfolio] = [read('activity', paths.activity), read('portfolio', paths.positions)];
    if (activity?.status !== 'available' || portfolio?.status !== 'available') return null;
    return activity.activity.map((event) => describeAction(event, address, portfolio.configuration));
  }
  const miner = read('miner', recordPath('miner', subject.id));
  if (miner === null) return null;
  if ('error' in miner) return [];
  if (miner.status !== 'available') return null;
  const { owner, events, transfers, configuration } = miner;
  const moves = owner === null ? [] : transfers.map((event) => describeAction(event, owner, configuration));
  return [...events.map(describeFeedEvent), ...moves].sort((a, b) =>
    a.publishedAt < b.publishedAt ? 1 : -1,
  );
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
      `<entry><id>${escapeMarkup(entry.id)}</id><title>${escapeMarkup(entry.title)}</title><updated>${entry.updatedAt}</updated><published>${entry.publishedAt}</published><link rel="alternate" type="text/html" href="${escapeMarkup(base + entry.path)}"/><summary>${escapeMarkup(writeSentence(entry.sentence))}</summary></entry>\n`,
  );
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>mining-activity:${escapeMarkup(installationId)}:${name}</id>
<title>Mining activity of ${escapeMarkup(installationId)}: ${title}</title>
<updated>${feed.entries[0]?.updatedAt ?? new Date(nowMs).toISOString()}</updated>
<author><name>${escapeMarkup(installationId)}</name></author>
<link rel="self" type="application/atom+xml" href="${base}${findFeed(place)}"/>
<link rel="alternate" type="text/html" href="${base}${formatPlace(place)}"/>
${entries.join('')}</feed>
`;
}

function describeFeedEvent(event: FeedEvent): Entry {
  const { id, recordedAt: updatedAt, occurredAt: publishedAt } = event;
  return { id, ...describeEvent(event), updatedAt, publishedAt, path: formatPlace({ view: 'event', id }) };
}

type Configuration = Parameters<typeof describeOwnerEvent>[2];

function describeAction(event: OwnerEvent, owner: string, configuration: Configuration): Entry {
  const { id, source } = event;
  const at = source.blockTimestamp;
  const path = `${formatPlace({ view: 'owners', address: owner })}#${id}`;
  return {
    id,
    ...describeOwnerEvent(event, owner, configuration),
    updatedAt: at,
    publishedAt: at,
    path,
  };
}
