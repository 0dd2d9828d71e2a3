import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRecord } from '../../actors/folds/foldRecord.ts';
import type { Outcome } from '../../actors/messages/decodeMessage.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { counterSubject, oracleSubject } from '../../actors/messages/subjects.ts';
import { dayMs } from '../../actors/schemas/durations.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { type CounterActors, createCounterActors } from '../../actors/wheel/counterActors.ts';
import { counterReadingMessage, toCounterReading } from '../../actors/wheel/counterReading.ts';
import type { BucketRow } from '../../actors/wheel/roundFold.ts';
import { acceptReadings } from '../reference/acceptedReadings.ts';
import { createReferencePlaces } from '../reference/referencePlaces.ts';
import { genesisMs } from '../support/genesis.ts';
import { jsonMessage } from '../support/jsonMessage.ts';
import { runs } from '../support/propertyRuns.ts';
import { moduleBody } from '../support/readings/pipelineBodies.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';
import { restoreState } from '../support/restoreState.ts';
import { sortRecords } from '../support/sortRecords.ts';

const publicId = 'wheel.public';
/** Noon of a day. */
const startMs = Date.UTC(2026, 0, 31, 12);

const createCounters = (installationsMax: number) =>
  createCounterActors({ genesisMs, publicInstallationId: publicId, installationsMax });
const createSettlements = (installationsMax: number) =>
  createSettlementActors({ genesisMs, publicInstallationId: publicId, installationsMax });

/** A reading, observed when it is stored unless it is a late one. */
function readingAt(
  installationId: string,
  storedAtMs: number,
  seq = 1,
  observedAtMs = storedAtMs,
): StreamMessage {
  const observedAt = new Date(observedAtMs).toISOString();
  const times = { observedAt, receivedAt: observedAt };
  const body = readingMessage(installationId, observedAtMs - genesisMs, times);
  return jsonMessage(counterSubject(installationId), body, { seq, storedAtMs });
}

/** A statement of an oracle. */
function unblockAt(
  installationId: string,
  storedAtMs: number,
  seq = 1,
  madeAtMs = storedAtMs,
): StreamMessage {
  const body = { type: 'unblocked', at: new Date(madeAtMs).toISOString() };
  return jsonMessage(oracleSubject(installationId), body, { seq, storedAtMs });
}

const folds = [
  { fold: 'readings', create: createCounters, messageAt: readingAt },
  { fold: 'oracle messages', create: createSettlements, messageAt: unblockAt },
];

type Fold = Pick<CounterActors, 'capture' | 'beginRestore' | 'places'> & {
  receive(message: StreamMessage): Outcome<unknown>;
};

const tooMany = { rejection: { reason: 'too_many_installations', detail: expect.any(String) } };
const isAccepted = (fold: Fold, message: StreamMessage) =>
  Object.hasOwn(fold.receive(message) as object, 'output');

describe.each(folds)('installations with $fold', ({ create, messageAt }) => {
  /** Sends messages of made-up installations, and returns how many had a place. */
  const flood = (fold: Fold, count: number, atMs: number, name = 'made-up') =>
    Array.from({ length: count }, (_, index) => messageAt(`${name}-${index}`, atMs)).filter((message) =>
      isAccepted(fold, message),
    ).length;

  it('stay when the bound is lowered, and leave once silent', () => {
    const fold: Fold = create(8);
    expect(flood(fold, 4, startMs)).toBe(4);
    const lowered: Fold = create(2);
    restoreState(lowered, fold.capture());
    expect(flood(lowered, 4, startMs + 1)).toBe(4);
    expect(lowered.receive(messageAt('new', startMs + dayMs))).toEqual(tooMany);
    expect(lowered.places().taken).toBe(4);
    expect(isAccepted(lowered, messageAt('new', startMs + 32 * dayMs))).toBe(true);
    expect(lowered.places()).toEqual({ taken: 2, max: 2, forgotten: 3 });
  });

  it('agree with the reference, whenever the fold is restored', () => {
    const names = [publicId, ...'abcdefgh'];
    const step = fc.record({
      id: fc.constantFrom(...names),
      waitMs: fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom(0, 1, 600_000, 20 * 3_600_000) },
        { weight: 3, arbitrary: fc.constantFrom(dayMs, 29 * dayMs, 30 * dayMs, 31 * dayMs) },
      ),
      /** How far the clock of NATS is ahead. */
      aheadMs: fc.oneof(
        { weight: 12, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.constantFrom(-dayMs, -40 * dayMs, 3_650 * dayMs) },
      ),
      lateMs: fc.constantFrom(0, 0, 0, dayMs, 35 * dayMs),
      isRestored: fc.constantFrom(true, false, false, false),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), fc.integer({ min: 1, max: 6 }), (steps, max) => {
        let fold: Fold = create(max);
        const messages: Sent[] = [];
        let atMs = startMs + 400 * dayMs;
        for (const { id, waitMs, lateMs, aheadMs } of steps) {
          atMs += waitMs;
          const seq = messages.length + 1;
          // All differ, so that none repeats another one.
          const madeAtMs = atMs - lateMs + seq;
          const storedAtMs = atMs + aheadMs;
          messages.push({ id, madeAtMs, storedAtMs, message: messageAt(id, storedAtMs, seq, madeAtMs) });
        }
        const outcomes = messages.map(({ message }, index) => {
          const outcome = fold.receive(message);
          if (steps[index]?.isRestored) {
            const records = sortRecords(fold.capture());
            fold = create(max);
            restoreState(fold, records.map(parseRecord));
          }
          return typeof outcome === 'object' && 'rejection' in outcome ? outcome.rejection.reason : null;
        });
        const judge = messageAt === readingAt ? judgeReadings : judgeStatements;
        expect(outcomes).toEqual(judge(messages, max));
      }),
      { numRuns: runs(150) },
    );
  });
});

interface Sent {
  readonly message: StreamMessage;
  readonly id: string;
  readonly storedAtMs: number;
  readonly madeAtMs: number;
}

/** Reasons for which the reference rejects readings; null for an accepted one. */
function judgeReadings(messages: readonly Sent[], max: number): (string | null)[] {
  const reasons = new Map<number, string>();
  const stored = messages.map(({ message, storedAtMs }) => ({ ...message, storedAtMs }));
  acceptReadings(stored, ({ seq }, reason) => reasons.set(seq, reason), { max, publicId });
  return stored.map(({ seq }) => reasons.get(seq) ?? null);
}

/** An oracle's statement is accepted if its installation has a place, since no two of them are equal. */
function judgeStatements(messages: readonly Sent[], max: number): (string | null)[] {
  const places = createReferencePlaces({ max, publicId });
  const begins = new Map<string, number>();
  return messages.map(({ id, storedAtMs, madeAtMs }) => {
    if (madeAtMs > storedAtMs + 300_000) return 'future_observation';
    const isNew = !places.has(id);
    if (!places.gives(id, storedAtMs, madeAtMs)) return 'too_many_installations';
    if (!isNew && madeAtMs <= (begins.get(id) ?? Number.NEGATIVE_INFINITY)) return 'too_many_installations';
    if (isNew && id !== publicId) begins.set(id, places.forgottenThroughMs());
    places.accept(id, storedAtMs);
    return null;
  });
}

describe('a wheel that gave its place up', () => {
  it('leaves the row of its last half hour, and later makes others', () => {
    const counters = createCounters(1);
    const rows: BucketRow[] = [];
    let seq = 0;
    const send = (id: string, storedAtMs: number, observedAtMs = storedAtMs) => {
      const outcome = counters.receive(readingAt(id, storedAtMs, ++seq, observedAtMs));
      if ('rejection' in outcome) return outcome.rejection.reason;
      const { closed, left = [] } = outcome.output;
      rows.push(...(closed.bucket === null ? [] : [closed.bucket]), ...left);
      return null;
    };
    for (let minute = 0; minute < 35; minute++) send('a', startMs + minute * 60_000);
    expect(rows.map(({ startMs: from, readingCount }) => [from - startMs, readingCount])).toEqual([[0, 30]]);
    const laterMs = startMs + 31 * dayMs;
    expect(send('b', laterMs)).toBeNull();
    expect(rows.at(-1)).toMatchObject({
      installationId: 'a',
      startMs: startMs + 1_800_000,
      readingCount: 5,
      position: seq,
    });
    // A late reading from the same half hour would replace that row by a smaller one.
    const backMs = laterMs + 31 * dayMs;
    for (const minute of [36, 34 + 60])
      expect(send('a', backMs, startMs + minute * 60_000)).toBe('too_many_installations');
    for (let minute = 0; minute < 40; minute++) expect(send('a', backMs + minute * 60_000)).toBeNull();
    const keys = rows.map(({ installationId, startMs: from }) => `${installationId} ${from}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('is shown as unpublished until its next reading', () => {
    const counters = createCounters(1);
    const view = (id: string) => counters.telemetry(id, startMs + 31 * dayMs);
    counters.receive(readingAt('a', startMs));
    expect([view('a').freshness, counters.mayHaveReadings('z')]).toEqual(['stale', false]);
    counters.receive(readingAt('b', startMs + 31 * dayMs));
    expect(view('a')).toEqual({ installationId: 'a', freshness: 'offline', revision: null, reading: null });
    expect(view('b').freshness).toBe('online');
    expect(counters.mayHaveReadings('a')).toBe(true);
  });
});

it('a reading whose message has left the stream is never refused a place', () => {
  const counters = createCounters(2);
  const fold = (id: string, receivedAtMs: number) => {
    const receivedAt = new Date(receivedAtMs).toISOString();
    const message = readingMessage(id, 0, { observedAt: receivedAt, receivedAt });
    return counters.receiveStored(toCounterReading(counterReadingMessage.parse(message), 1));
  };
  for (const id of ['a', 'b', 'c']) expect(fold(id, startMs)).toHaveProperty('output');
  expect(counters.places()).toEqual({ taken: 3, max: 2, forgotten: 0 });
  // Silent ones make room all the same.
  expect(fold('d', startMs + 31 * dayMs)).toHaveProperty('output');
  expect(counters.places()).toEqual({ taken: 2, max: 2, forgotten: 2 });
  expect(fold('e', startMs + 31 * dayMs)).toHaveProperty('output');
  expect(fold('f', startMs + 31 * dayMs)).toHaveProperty('output');
  expect(counters.places()).toEqual({ taken: 3, max: 2, forgotten: 3 });
  expect(counters.receive(readingAt('g', startMs + 31 * dayMs))).toEqual(tooMany);
});

it('an installation takes a place only with an accepted message', () => {
  const settlements = createSettlements(2);
  const finish = (id: string) => {
    const body = { type: 'incident_closed', at: new Date(startMs).toISOString(), incidentId: 'none' };
    return settlements.receive(jsonMessage(`miner.reporter.${id}`, body, { storedAtMs: startMs }));
  };
  for (const id of ['a', 'b', 'c']) expect(finish(id)).toHaveProperty('rejection.reason', 'not_allowed');
  expect(settlements.places().taken).toBe(0);
});

it('a new installation is refused messages from the time of what was forgotten', () => {
  const settlements = createSettlements(1);
  const send = (id: string, storedAtMs: number, madeAtMs = storedAtMs) =>
    isAccepted(settlements, unblockAt(id, storedAtMs, 1, madeAtMs));
  const laterMs = startMs + 64 * dayMs;
  const isGiven = [send('forgotten', startMs), send('next', startMs + 32 * dayMs), send('new', laterMs)];
  expect(isGiven).toEqual([true, true, true]);
  const throughMs = startMs + 3_600_000;
  expect([throughMs, throughMs + 1].map((madeAtMs) => send('new', laterMs, madeAtMs))).toEqual([false, true]);
  // The time of a module is the one of its state.
  const module = { ...moduleBody, observedAt: new Date(laterMs).toISOString() };
  const report = jsonMessage('miner.module.new.sensor', module, { storedAtMs: laterMs });
  expect(isAccepted(settlements, report)).toBe(true);
});
