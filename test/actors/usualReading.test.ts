import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage, defineFormat } from '../../actors/messages/decodeMessage.ts';
import { safeCount } from '../../actors/schemas/wireScalars.ts';
import {
  type CounterReadingMessage,
  coreStatuses,
  createReadingConversion,
  defineReadingMessage,
  type MeasuredValues,
  measurements,
  provenances,
} from '../../actors/wheel/counterReading.ts';
import { createUsualReader } from '../../actors/wheel/usualReading.ts';
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

/** Creates a check that both readers of messages with these measured values agree. */
function createComparison(measured: MeasuredValues) {
  const readUsual = createUsualReader(measured);
  const format = defineFormat(defineReadingMessage(measured), 16_384);
  const convert = createReadingConversion(measured);
  const readBySchema = (data: Buffer) => {
    const decoded = decodeMessage(format, data);
    return 'rejection' in decoded
      ? null
      : convert(decoded.value as object as Parameters<typeof convert>[0], 7);
  };
  /** The usual form may be stricter than the schema, but reads nothing else. Returns whether it read the message. */
  return (text: string): boolean => {
    const [usual, bySchema] = [readUsual(Buffer.from(text), 7), readBySchema(Buffer.from(text))];
    if (usual !== null) expect(usual).toStrictEqual(bySchema);
    if (bySchema !== null) expect(Object.values(bySchema)).not.toContain(undefined);
    return usual !== null;
  };
}

const expectAgreement = createComparison(measurements);

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
    ['an hour that no day has', compact.replace(/T\d\d:/, 'T24:')],
    ['a day that some years lack', compact.replace('2026-01-31', '2024-02-29')],
    ['a counter that may be too large', JSON.stringify({ ...usual, cumulativeWorkUnits: '1'.repeat(78) })],
    ['a number that may be inexact', compact.replace('999999999999999', '9999999999999999')],
  ])('is not assumed with %s', (_, text) => {
    expect(expectAgreement(text)).toBe(false);
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

  it('is what the schema reads, for any reading and whichever values later versions add', () => {
    const later = fc.uniqueArray(
      fc.record({
        name: fc.stringMatching(/^later[A-Za-z0-9]{0,4}$/),
        value: fc.oneof(fc.constantFrom(undefined, null, -1, 1.5, '1', false), count),
      }),
      { maxLength: 4, selector: ({ name }) => name },
    );
    let usualCount = 0;
    fc.assert(
      fc.property(message, later, (reading, added) => {
        const schemas = added.map(({ name }) => [name, safeCount.nullable().default(null)] as const);
        const agree = createComparison({ ...measurements, ...Object.fromEntries(schemas) });
        const given = added.map(({ name, value }) => [name, value] as const);
        if (agree(JSON.stringify({ ...reading, ...Object.fromEntries(given) }))) usualCount++;
        agree(JSON.stringify({ ...Object.fromEntries(given.toReversed()), ...reading }));
      }),
      { numRuns: runs(400) },
    );
    expect(usualCount).toBeGreaterThan(0);
  });

  it('that this version has stored is read by later versions with more values', () => {
    const added = {
      laterOne: safeCount.nullable().default(null),
      laterTwo: safeCount.nullable().default(null),
    };
    const agree = createComparison({ ...measurements, ...added });
    const last = '"distanceMm":5';
    for (const values of ['', ',"laterOne":1', ',"laterTwo":2', ',"laterOne":null,"laterTwo":2'])
      expect(agree(compact.replace(last, last + values))).toBe(true);
    expect(agree(compact.replace(last, `${last},"laterTwo":2,"laterOne":1`))).toBe(false);
  });
});
