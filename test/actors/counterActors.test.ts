import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecordRefused } from '../../actors/folds/foldRecord.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { counterSubject } from '../../actors/messages/subjects.ts';
import { type CounterActors, createCounterActors } from '../../actors/wheel/counterActors.ts';
import type { CounterReadingMessage } from '../../actors/wheel/counterReading.ts';
import { genesisMs, storedLateNanos } from '../support/genesis.ts';
import { jsonMessage } from '../support/jsonMessage.ts';
import { mixedPublications, readingMessage } from '../support/readings/readingMessages.ts';
import { restoreState } from '../support/restoreState.ts';
import { sortRecords } from '../support/sortRecords.ts';

const createActors = () => createCounterActors({ genesisMs, publicInstallationId: 'wheel.one' });

const buildMessage = (body: CounterReadingMessage, seq: number) =>
  jsonMessage(counterSubject(body.installationId), body, { seq });

/** Bodies of three installations, some of them bad, as messages of a stream. */
const mixedMessages = (count: number, intervalMs?: number) =>
  mixedPublications(count, 0, intervalMs).map(
    ({ subject, body }, index): StreamMessage => ({
      ...{ seq: index + 1, subject, data: Buffer.from(body), timestampNanos: storedLateNanos },
    }),
  );

function fold(messages: readonly StreamMessage[]): CounterActors {
  const actors = createActors();
  for (const message of messages) actors.receive(message);
  return actors;
}

/** State and views of the actors. */
function captureState(actors: CounterActors, installations: readonly string[], nowMs: number) {
  return {
    records: sortRecords(actors.capture()),
    views: installations.map((id) => actors.telemetry(id, nowMs)),
  };
}

const installations = ['wheel.one', 'wheel:two', 'wheel-three'];

describe('the actors of the counter stream', () => {
  it('have the same state if they continue from any snapshot', () => {
    const messages = mixedMessages(1_800);
    const uninterrupted = createActors();
    const outcomes = messages.map((message) => uninterrupted.receive(message));
    const nowMs = genesisMs + 600 * 10_000;
    fc.assert(
      fc.property(fc.nat(messages.length), (at) => {
        const records = fold(messages.slice(0, at)).capture();
        const after = fold(messages.slice(0, 1)); // Its previous state does not matter.
        const shown = installations.map((id) => after.telemetry(id, nowMs));
        restoreState(after, records);
        expect(messages.slice(at).map((message) => after.receive(message))).toEqual(outcomes.slice(at));
        expect(installations.map((id) => after.telemetry(id, nowMs))).toEqual(shown);
        expect(installations.filter((id) => !after.mayHaveReadings(id))).toEqual([]);
        after.reveal();
        expect(captureState(after, installations, nowMs)).toEqual(
          captureState(uninterrupted, installations, nowMs),
        );
      }),
      { numRuns: 15 },
    );
  });

  it('refuse a snapshot without some of the records that others need', () => {
    const records = [...fold(mixedMessages(2_000, 60_000)).capture()];
    for (const missing of ['installation', 'history', 'day', 'progress']) {
      const others = records.filter(({ kind }) => kind !== missing);
      expect(() => restoreState(createActors(), others)).toThrow(RecordRefused);
    }
  });

  it('fold a stored reading as if NATS had stored it at receipt', () => {
    const [actors, again] = [createActors(), createActors()];
    const body = readingMessage('wheel.one', 0, { distanceMm: 1_000_000 });
    const timestampNanos = BigInt(Date.parse(body.receivedAt)) * 1_000_000n;
    const outcome = actors.receive({ ...buildMessage(body, 1), timestampNanos });
    if ('rejection' in outcome) throw new Error(outcome.rejection.detail);
    again.receiveStored(outcome.output.reading);
    expect(again.achievements()).toEqual(actors.achievements());
  });

  it('capture the state of the moment, even if more is folded', () => {
    const actors = createActors();
    actors.receive(buildMessage(readingMessage('wheel.one', 0), 1));
    const captured = actors.capture();
    const now = [...actors.capture()];
    actors.receive(buildMessage(readingMessage('wheel.one', 1), 2));
    actors.receive(buildMessage(readingMessage('wheel-three', 1), 3));
    expect([...captured]).toEqual(now);
  });
});

it('a measurement is online through exactly 120 seconds after its receipt', () => {
  const actors = createActors();
  const receivedAtMs = Date.parse(readingMessage('wheel.one', 0).receivedAt);
  const viewAt = (ageMs: number) => actors.telemetry('wheel.one', receivedAtMs + ageMs);
  const nothing = { freshness: 'offline', revision: null, reading: null };
  expect(viewAt(0)).toEqual({ installationId: 'wheel.one', ...nothing });
  actors.receive(buildMessage(readingMessage('wheel.one', 0), 1));
  const view = viewAt(0);
  expect(view.freshness).toBe('online');
  actors.receive(buildMessage(readingMessage('wheel.one', 0), 2)); // A duplicate.
  expect(viewAt(120_000)).toBe(view);
  const stale = viewAt(120_001);
  expect(stale).toEqual({ ...view, freshness: 'stale' });
  expect(viewAt(864_000_000)).toBe(stale);
  expect(viewAt(120_000)).toEqual(view); // The clock was set back.
  actors.receive(buildMessage(readingMessage('wheel.one', 1), 3));
  expect(viewAt(999_999).revision).not.toBe(view.revision);
});
