import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { EventRow, KeyedEventRow } from '../../actors/feed/eventRows.ts';
import type { StoredCategory } from '../../actors/feed/feedCategories.ts';
import { compareShown, type FeedPlace } from '../../actors/feed/feedItem.ts';
import type { SourcePlace } from '../../actors/feed/feedPosition.ts';
import { createStoredEvents } from '../../storage/reading/storedEvents.ts';
import { type LineageRuns, openEnd } from '../../storage/runs/lineages.ts';
import { openTables } from '../support/storage/openTables.ts';
import { someRows } from '../support/storage/someRows.ts';
import { storeRows } from '../support/storage/storeRows.ts';

const neverAborted = new AbortController().signal;

/** The categories of each source. */
const sources = [
  ['chain', ['protocol', 'players']],
  ['measurement', ['measurement']],
] as const;

interface Given {
  /** Events of each message: their category among those of their source, and how much later than the message before it was stored; the clock may go back. */
  readonly messages: readonly { readonly isPlayers: boolean; readonly laterMs: number }[];
  /** Numbers of messages after which runs begin. */
  readonly cuts: readonly number[];
  /** Rows of each run above its cut, which count no longer. */
  readonly lost: number;
  /** Events of earlier runs that each run stores once more, as a fold does after a reorganization. */
  readonly again: number;
  readonly limit: number;
}

const given: fc.Arbitrary<Given> = fc.record({
  messages: fc.array(fc.record({ isPlayers: fc.boolean(), laterMs: fc.integer({ min: -3, max: 5 }) }), {
    minLength: 1,
    maxLength: 24,
  }),
  cuts: fc.uniqueArray(fc.integer({ min: 1, max: 24 }), { maxLength: 5 }),
  lost: fc.integer({ min: 0, max: 3 }),
  again: fc.integer({ min: 0, max: 3 }),
  limit: fc.integer({ min: 1, max: 7 }),
});

it.each(sources)(
  'pages of %s events are the same, whichever runs hold the events',
  async (source, categories) => {
    const { database } = await openTables();
    let runs: LineageRuns = [];
    const awaitRows = async () => runs;
    const stored = createStoredEvents({
      database,
      awaitRows: { measurement: awaitRows, chain: awaitRows },
    });
    let worlds = 0;
    await fc.assert(
      fc.asyncProperty(given, async ({ messages, cuts, lost, again, limit }) => {
        const world = `world ${++worlds}`;
        let recordedAtMs = 1_000;
        const events = messages.map(({ isPlayers, laterMs }, at): KeyedEventRow => {
          recordedAtMs += laterMs;
          const category = (isPlayers ? categories.at(-1) : categories[0]) as StoredCategory;
          const place = { position: at + 1, ordinal: 0, recordedAtMs, arrivedAtMs: recordedAtMs };
          return {
            ...someRows.event,
            ...place,
            category,
            id: `${world} ${at + 1}`,
            installationId: source === 'chain' ? '' : 'wheel-1',
            storedBy: at + 1,
            keys: [category],
          };
        });
        const ends = [...cuts.filter((cut) => cut < messages.length).sort((a, b) => a - b), openEnd];
        runs = ends.map((through, at) => ({ run: `${world} ${at}`, through }));
        for (const [at, { run, through }] of runs.entries()) {
          const from = runs[at - 1]?.through ?? 0;
          const own = events.filter(({ position }) => position > from && position <= through);
          const above =
            through === openEnd ? [] : events.filter(({ position }) => position > through).slice(0, lost);
          const cutOff = above.map((event) => ({
            ...event,
            id: `lost ${event.id}`,
            recordedAtMs: event.recordedAtMs + 1,
          }));
          const repeated = events
            .filter(({ position }) => position <= from)
            .slice(Math.max(0, from - again))
            .map((event) => ({ ...event, storedBy: from + 1 }));
          const rows = [...repeated, ...own, ...cutOff];
          await storeRows(
            database,
            source === 'chain' ? { chainEvents: rows } : { measurementEvents: rows },
            run,
          );
        }
        const through = { position: messages.length, ordinal: 0 };
        const of = {
          source,
          evicted: { through, throughMs: recordedAtMs, atPosition: through.position },
        } as const;
        const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);

        const shown = events.map((event) => ({ ...event, source })).sort(compareShown);
        const before: string[] = [];
        for (let place: FeedPlace | null = null; ; ) {
          const page = await stored.before(
            of,
            { keys: categories, place, fromMs: null, limit },
            neverAborted,
          );
          before.push(...idsOf(page));
          const last = page.at(-1);
          if (last === undefined) break;
          place = { ...last, source };
        }
        expect(before).toEqual(idsOf(shown));

        const after: string[] = [];
        const placeOf = ({ position, ordinal, arrivedAtMs: storedAtMs }: EventRow): SourcePlace => ({
          streamCreatedMs: 1,
          position,
          ordinal,
          storedAtMs,
        });
        const readAfter = (place: SourcePlace | null) =>
          stored.after(of, { categories, place, limit }, neverAborted);
        for (let place: SourcePlace | null = null; ; ) {
          const page = (await readAfter(place)) ?? [];
          after.push(...idsOf(page));
          const last = page.at(-1);
          if (last === undefined) break;
          place = placeOf(last);
        }
        expect(after).toEqual(idsOf(events));
        const last = placeOf(events.at(-1) as KeyedEventRow);
        // Nothing follows an event that another one has replaced, or that no run has.
        for (const place of [
          { ...last, storedAtMs: last.storedAtMs + 1 },
          { ...last, ordinal: 1 },
        ])
          expect(await readAfter(place)).toBeNull();
      }),
      { numRuns: 15 },
    );
  },
);
