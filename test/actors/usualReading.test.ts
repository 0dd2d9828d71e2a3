import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage, defineFormat } from '../../actors/messages/decodeMessage.ts';
import {
  type CounterReadingMessage,
  coreStatuses,
  counterReadingMessage,
  provenances,
  toCounterReading,
} from '../../actors/wheel/counterReading.ts';
import { parseUsualReading } from '../../actors/wheel/usualReading.ts';
import { runs } from '../support/propertyRuns.ts';

const usual: CounterReadingMessage = {
  telemetryId: 'aaaaaaaa-0000-4000-8000-000000000001',
  installationId: 'wheel.one',
  bootId: 'bbbbbbbb-0000-4000-8000-000000000001',
  sequence: 3,
  observedAt: '2026-01-31T12:00:00.250Z',
  receivedAt: '2026-02-28T23:59:59.999Z',
  counterEpoch: 'eeeeeeee-0000-4000-8000-000000000001',
  cumulativeWorkUnits: '9'.repeat(77),
  provenance: 'hardware',
  softwareVersion: 'gateway 1.0.0',
  coreStatus: 'ACTIVE',
  rpmMilli: 0,
  speedMmPerSecond: 999_999_999_999_999,
  distanceMm: 5,
};
const compact = JSON.stringify(usual);
/** As Python writes it. */
const spaced = compact.replaceAll('":', '": ').replaceAll(',"', ', "');

/** The reading by the schema; null if the message does not fit. */
function readBySchema(text: string) {
  const decoded = decodeMessage(defineFormat(counterReadingMessage, 16_384), Buffer.from(text));
  return 'rejection' in decoded ? null : toCounterReading(decoded.value, 7);
}

/** The usual form may be stricter than the schema, but reads nothing else. Returns whether it read the message. */
function expectAgreement(text: string): boolean {
  const reading = parseUsualReading(Buffer.from(text), 7);
  if (reading !== null) expect(reading).toStrictEqual(readBySchema(text));
  return reading !== null;
}

const uuid = fc.uuid();
const count = fc.oneof(fc.nat(), fc.constantFrom(0, 10 ** 15 - 1, 10 ** 15));
const time = fc
  .date({
    min: new Date('0000-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  .map((date) => date.toISOString());
const message: fc.Arbitrary<CounterReadingMessage> = fc.record({
  telemetryId: uuid,
  installationId: fc.stringMatching(/^[A-Za-z0-9._:-]{1,128}$/),
  bootId: uuid,
  sequence: count,
  observedAt: time,
  receivedAt: time,
  counterEpoch: uuid,
  cumulativeWorkUnits: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String),
  provenance: fc.constantFrom(...provenances),
  softwareVersion: fc.option(fc.string({ maxLength: 256 })),
  coreStatus: fc.constantFrom(...coreStatuses),
  rpmMilli: count,
  speedMmPerSecond: count,
  distanceMm: count,
});

describe('a reading in the usual form', () => {
  it.each([
    ['without spaces', compact],
    ['with a space after each colon and comma', spaced],
    ['without a version', JSON.stringify({ ...usual, softwareVersion: null })],
    ['of a wheel that has done nothing', JSON.stringify({ ...usual, cumulativeWorkUnits: '0' })],
  ])('is read %s', (_, text) => {
    expect(expectAgreement(text)).toBe(true);
  });

  it.each([
    ['a byte before it', ` ${compact}`],
    ['a byte behind it', `${compact}\n`],
    ['capital letters in an ID', compact.replace('bbbbbbbb', 'BBBBBBBB')],
    ['another order', JSON.stringify(Object.fromEntries(Object.entries(usual).reverse()))],
    ['a further member', JSON.stringify({ ...usual, last: 1 })],
    ['letters beyond ASCII', JSON.stringify({ ...usual, softwareVersion: 'é' })],
    ['a day that some years lack', compact.replace('2026-01-31', '2024-02-29')],
    ['a counter that may be too large', JSON.stringify({ ...usual, cumulativeWorkUnits: '1'.repeat(78) })],
    ['a number that may be inexact', compact.replace('999999999999999', '9999999999999999')],
  ])('is not assumed with %s', (_, text) => {
    expect(expectAgreement(text)).toBe(false);
  });

  it('is what the schema reads, for any reading', () => {
    let usualCount = 0;
    const expectCounted = (reading: CounterReadingMessage) => {
      if (expectAgreement(JSON.stringify(reading))) usualCount++;
    };
    fc.assert(fc.property(message, expectCounted), { numRuns: runs(1_000) });
    expect(usualCount).toBeGreaterThan(0);
  });

  it('is what the schema reads, with any byte replaced', () => {
    const byte = fc.oneof(
      fc.constantFrom(...'09aAfTZ-+.,:"\\ {}'),
      fc.string({ minLength: 0, maxLength: 2 }),
    );
    fc.assert(
      fc.property(fc.nat({ max: compact.length - 1 }), byte, (at, replacement) => {
        expectAgreement(compact.slice(0, at) + replacement + compact.slice(at + 1));
      }),
      { numRuns: runs(3_000) },
    );
  });
});
