import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CounterReadingMessage,
  coreStatuses,
  counterReadingMessage,
  provenances,
  toCounterReading,
} from '../../actors/wheel/counterReading.ts';
import { parseUsualForm } from '../../actors/wheel/readingText.ts';
import { runs } from '../support/propertyRuns.ts';
import { deriveUuid } from '../support/readings/readingMessages.ts';

const uuids = fc.nat().map((seed) => deriveUuid(String(seed)));
const counts = fc.oneof(fc.nat(), fc.maxSafeNat(), fc.constantFrom(0, 999_999_999_999_999, 1e15));
/** Leap days and month ends as well as any time. */
const times = fc.oneof(
  fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
  fc.constantFrom(
    ...['2024-02-28', '2024-02-29', '2025-02-28', '2026-04-30', '2026-12-31', '2000-02-29'].map(
      (date) => new Date(`${date}T23:59:59.999Z`),
    ),
  ),
);
const timeTexts = times.map((time) => time.toISOString());
const messages: fc.Arbitrary<CounterReadingMessage> = fc.record({
  telemetryId: uuids,
  installationId: fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/),
  bootId: uuids,
  sequence: counts,
  observedAt: timeTexts,
  receivedAt: timeTexts,
  counterEpoch: uuids,
  cumulativeWorkUnits: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
  provenance: fc.constantFrom(...provenances),
  softwareVersion: fc.oneof(fc.constant(null), fc.string({ maxLength: 256 })),
  coreStatus: fc.constantFrom(...coreStatuses),
  rpmMilli: counts,
  speedMmPerSecond: counts,
  distanceMm: counts,
});

const isAscii = (text: string) => Buffer.byteLength(text) === text.length;

/** By way of JSON and the schema. */
function readPlainly(text: string) {
  try {
    return toCounterReading(counterReadingMessage.parse(JSON.parse(text)));
  } catch {
    return null;
  }
}

describe('the usual form of a reading', () => {
  it('is what a gateway sends', () => {
    const common = messages.filter(
      ({ softwareVersion, cumulativeWorkUnits, observedAt, receivedAt, sequence, ...rest }) =>
        (softwareVersion === null || /^[\w.+-]*$/.test(softwareVersion)) &&
        cumulativeWorkUnits.length < 78 &&
        ![observedAt, receivedAt].some((time) => time.includes('-02-29T')) &&
        [sequence, rest.rpmMilli, rest.speedMmPerSecond, rest.distanceMm].every((value) => value < 1e15),
    );
    fc.assert(
      fc.property(common, (message) => {
        const read = parseUsualForm(Buffer.from(JSON.stringify(message)));
        expect(read).toEqual(toCounterReading(message));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is read as the schema reads it, or left to the schema', () => {
    fc.assert(
      fc.property(messages, (message) => {
        const text = JSON.stringify(message);
        fc.pre(isAscii(text));
        const read = parseUsualForm(Buffer.from(text));
        if (read !== null) expect(read).toEqual(readPlainly(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it('accepts nothing that the schema refuses, however a message is damaged', () => {
    const damages = fc.record({
      at: fc.nat(600),
      removed: fc.nat(2),
      inserted: fc.constantFrom(
        '',
        ' ',
        '"',
        '\\',
        ',',
        '0',
        '9',
        '-',
        '.',
        'e',
        'A',
        'g',
        '}',
        'null',
        '\n',
      ),
    });
    fc.assert(
      fc.property(messages, damages, (message, { at, removed, inserted }) => {
        const complete = JSON.stringify(message);
        fc.pre(isAscii(complete));
        const from = at % complete.length;
        const text = `${complete.slice(0, from)}${inserted}${complete.slice(from + removed)}`;
        const read = parseUsualForm(Buffer.from(text));
        if (read !== null) expect(read).toEqual(readPlainly(text));
      }),
      { numRuns: runs(8_000) },
    );
  });
});
