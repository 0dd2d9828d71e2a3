import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatRecord } from '../../actors/foldRecord.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { type CounterActors, createCounterActors } from '../../actors/wheel/counterActors.ts';
import { createCounterDecoder } from '../../actors/wheel/decodeCounter.ts';
import { createRangeFold } from '../../actors/wheel/rangeFold.ts';
import { type CollectedRows, collectRows } from '../../streams/counter/collectedRows.ts';
import { genesisMs } from '../support/genesis.ts';
import { runs } from '../support/propertyRuns.ts';
import { hostileHistory } from '../support/readings/hostileHistory.ts';
import { mixedPublications } from '../support/readings/readingMessages.ts';

const settings = { genesisMs, publicInstallationId: 'wheel.one' };

/** Where a range ends, and how many messages before it its lead-in begins. */
interface Cut {
  readonly length: number;
  readonly leadIn: number;
}

function takeOneByOne(actors: CounterActors, messages: readonly StreamMessage[], rows: CollectedRows) {
  for (const message of messages) {
    const outcome = actors.receive(message);
    if ('output' in outcome) rows.add(outcome.output);
  }
}

/** @returns whether the range could be joined. */
function takeRange(
  actors: CounterActors,
  all: readonly StreamMessage[],
  [from, to]: readonly [number, number],
  { leadIn, rows }: { readonly leadIn: number; readonly rows: CollectedRows },
): boolean {
  const fold = createRangeFold({ ...settings, decode: createCounterDecoder(), fromSequence: from + 1 });
  const outputs = all.slice(Math.max(0, from - leadIn), to).map(fold.receive);
  const join = actors.joinRange(structuredClone(fold.complete()));
  if (join === null) {
    takeOneByOne(actors, all.slice(from, to), rows);
    return false;
  }
  for (const output of outputs) if (output !== null) rows.add(output);
  rows.addJoined(join());
  return true;
}

function foldInRanges(messages: readonly StreamMessage[], cuts: readonly Cut[]) {
  const actors = createCounterActors(settings);
  const rows = collectRows();
  let from = 0;
  let joined = 0;
  for (let index = 0; from < messages.length; index++) {
    const { length, leadIn } = cuts[index % cuts.length] as Cut;
    const to = Math.min(from + length, messages.length);
    if (takeRange(actors, messages, [from, to], { leadIn, rows })) joined++;
    from = to;
  }
  return { ...describeFolded(actors, rows), joined };
}

function foldOneByOne(messages: readonly StreamMessage[]) {
  const actors = createCounterActors(settings);
  const rows = collectRows();
  takeOneByOne(actors, messages, rows);
  return describeFolded(actors, rows);
}

/** The records of the state as they are stored, and all rows. */
function describeFolded(actors: CounterActors, rows: CollectedRows) {
  const { add: _, addJoined: __, ...lists } = rows;
  const byPosition = Object.entries(lists).map(([name, list]) => [
    name,
    [...list].sort((a, b) => order(a) - order(b)),
  ]);
  return { state: [...actors.capture().all()].map(formatRecord), rows: Object.fromEntries(byPosition) };
}

function order(row: object): number {
  return 'position' in row ? Number(row.position) : 0;
}

const cuts = fc.array(
  fc.record({ length: fc.integer({ min: 1, max: 200 }), leadIn: fc.constantFrom(0, 1, 20, 100) }),
  { minLength: 1, maxLength: 8 },
);

describe('ranges of the counter stream', () => {
  it('make the same rows and the same state as one message after another, whatever the history and the cuts', () => {
    fc.assert(
      fc.property(hostileHistory, cuts, (messages, where) => {
        const { joined: _, ...inRanges } = foldInRanges(messages, where);
        expect(inRanges).toEqual(foldOneByOne(messages));
      }),
      { numRuns: runs(60) },
    );
  });

  it('are joined where readings follow one another, also where each range is shorter than a round', () => {
    // More rounds than are remembered.
    const messages = mixedPublications(5_400, 0, 60_000).map(
      ({ subject, body }, index): StreamMessage => ({
        seq: index + 1,
        subject,
        data: Buffer.from(body),
        timestampNanos: BigInt(index),
      }),
    );
    for (const length of [25, 700, 5_000]) {
      const { joined, ...inRanges } = foldInRanges(messages, [{ length, leadIn: 20 }]);
      expect(joined).toBe(Math.ceil(messages.length / length));
      expect(inRanges).toEqual(foldOneByOne(messages));
    }
  });
});
