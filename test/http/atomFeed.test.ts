import { expect, it } from 'vitest';
import { describeCategoryFeed, writeAtomFeed } from '../../http/server/pages/atomFeed.ts';

type Feed = Parameters<typeof describeCategoryFeed>[0];

const event = (id: string, day: number) => ({
  id,
  type: 'player.miner_minted',
  recordedAt: `2026-11-2${day}T12:00:00.000Z`,
  occurredAt: `2026-11-2${day}T11:00:00.000Z`,
  payload: { tokenId: id, weight: '<&">', firstRound: '1', owner: '0x1' },
});

const feedOf = (category: Feed['category'], ...events: object[]) =>
  describeCategoryFeed({ installationId: 'a&b', category, events } as unknown as Feed);

it('an Atom feed has a full entry for each event, newest first', () => {
  const feed = feedOf('players', event('chain:2', 2), event('chain:1', 1));
  const entry = (id: string, day: number) =>
    `<entry><id>chain:${id}</id><title>New miner</title><updated>2026-11-2${day}T12:00:00.000Z</updated><published>2026-11-2${day}T11:00:00.000Z</published><link rel="alternate" type="text/html" href="https://wheel.example/events/chain%3A${id}"/><summary>Miner chain:${id} was created with weight &lt;&amp;&quot;> for 0x1. It earns from round 1 on.</summary></entry>\n`;
  expect(writeAtomFeed(feed, 'https://wheel.example', 0)).toBe(`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">
<id>mining-activity:a&amp;b:players</id>
<title>Mining activity of a&amp;b: owners</title>
<updated>2026-11-22T12:00:00.000Z</updated>
<author><name>a&amp;b</name></author>
<link rel="self" type="application/atom+xml" href="https://wheel.example/feed.atom?category=players"/>
<link rel="alternate" type="text/html" href="https://wheel.example/feed?category=players"/>
${entry('2', 2)}${entry('1', 1)}</feed>
`);
});

it.each([
  ['all', 'everything', '/feed'],
  ['protocol', 'settling and minting', '/feed?category=protocol'],
  ['measurement', 'the wheel', '/feed?category=measurement'],
] as const)('an Atom feed of %s without events is named, and updated now', (category, title, path) => {
  expect(writeAtomFeed(feedOf(category), null, 1_000).split('\n').slice(3, -2)).toEqual([
    `<title>Mining activity of a&amp;b: ${title}</title>`,
    '<updated>1970-01-01T00:00:01.000Z</updated>',
    '<author><name>a&amp;b</name></author>',
    `<link rel="self" type="application/atom+xml" href="/feed.atom?category=${category}"/>`,
    `<link rel="alternate" type="text/html" href="${path}"/>`,
  ]);
});
