import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { counterSubject } from '../../actors/messages/subjects.ts';
import {
  type CounterReadingMessage,
  coreStatuses,
  counterReadingMessage,
  provenances,
  toCounterReading,
} from '../../actors/wheel/counterReading.ts';
import { createCounterDecoder } from '../../actors/wheel/decodeCounter.ts';
import { createReadingParser } from '../../actors/wheel/readingText.ts';
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

/** As a program writes it: its members in an order of its own, with or without a space behind commas and colons. */
function write(message: CounterReadingMessage, order: readonly string[], spacing: string): string {
  const members = order.map(
    (name) => `"${name}":${spacing}${JSON.stringify(message[name as keyof CounterReadingMessage])}`,
  );
  return `{${members.join(`,${spacing}`)}}`;
}

const schemaOrder = Object.keys(counterReadingMessage.shape);
/** Seven: a parser learns as many beside the usual one. Learning a form takes longer than a thousand readings of it. */
const knownForms = fc.sample(
  fc.record({
    order: fc.shuffledSubarray(schemaOrder, { minLength: schemaOrder.length }),
    spacing: fc.constantFrom('', ' '),
  }),
  7,
);
const forms = fc.constantFrom(...knownForms);

const plainMessage: CounterReadingMessage = {
  telemetryId: deriveUuid('telemetry'),
  installationId: 'wheel.one',
  bootId: deriveUuid('boot'),
  sequence: 1,
  observedAt: '2026-01-31T12:00:00.000Z',
  receivedAt: '2026-01-31T12:00:00.120Z',
  counterEpoch: deriveUuid('epoch'),
  cumulativeWorkUnits: '7',
  provenance: 'hardware',
  softwareVersion: '1.0',
  coreStatus: 'ACTIVE',
  rpmMilli: 1,
  speedMmPerSecond: 2,
  distanceMm: 3,
};

/** A parser that has met a reading of another program in each of these forms. */
function parserThatKnows(...known: readonly { order: readonly string[]; spacing: string }[]) {
  const parser = createReadingParser();
  for (const { order, spacing } of known) {
    const text = write(plainMessage, order, spacing);
    parser.learn(Buffer.from(text), JSON.parse(text));
  }
  return parser;
}

describe('the text of a reading', () => {
  const parser = parserThatKnows(...knownForms);

  it('is read in one step in the order of the schema from the beginning, and in any other once it was met', () => {
    const common = messages.filter(
      ({ softwareVersion, cumulativeWorkUnits, observedAt, receivedAt, sequence, ...rest }) =>
        (softwareVersion === null || /^[\w.+-]*$/.test(softwareVersion)) &&
        cumulativeWorkUnits.length < 78 &&
        ![observedAt, receivedAt].some((time) => time.includes('-02-29T')) &&
        [sequence, rest.rpmMilli, rest.speedMmPerSecond, rest.distanceMm].every((value) => value < 1e15),
    );
    fc.assert(
      fc.property(common, forms, (message, form) => {
        for (const text of [JSON.stringify(message), write(message, form.order, form.spacing)])
          expect(parser.parse(Buffer.from(text))).toEqual(toCounterReading(message));
      }),
      { numRuns: runs(300) },
    );
  });

  it('is read as the schema reads it, or left to the schema', () => {
    fc.assert(
      fc.property(messages, forms, (message, form) => {
        const text = write(message, form.order, form.spacing);
        fc.pre(isAscii(text));
        const read = parser.parse(Buffer.from(text));
        if (read !== null) expect(read).toEqual(readPlainly(text));
      }),
      { numRuns: runs(2_000) },
    );
  });

  it('is not accepted where the schema refuses it, however a message is damaged', () => {
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
      fc.property(messages, forms, damages, (message, form, { at, removed, inserted }) => {
        const complete = write(message, form.order, form.spacing);
        fc.pre(isAscii(complete));
        const from = at % complete.length;
        const text = `${complete.slice(0, from)}${inserted}${complete.slice(from + removed)}`;
        const read = parser.parse(Buffer.from(text));
        if (read !== null) expect(read).toEqual(readPlainly(text));
      }),
      { numRuns: runs(8_000) },
    );
  });

  it('with a member twice, or another one, is left to the schema, and so is a form too many', () => {
    const usual = JSON.stringify(plainMessage);
    const twice = `${usual.slice(0, -1)},"sequence":5}`;
    const more = `${usual.slice(0, -1)},"firmware":"x"}`;
    const fresh = createReadingParser();
    for (const text of [twice, more]) {
      fresh.learn(Buffer.from(text), JSON.parse(text));
      expect(fresh.parse(Buffer.from(text))).toBeNull();
    }
    const rotations = schemaOrder.map((_, by) => [...schemaOrder.slice(by), ...schemaOrder.slice(0, by)]);
    const orders = rotations.slice(1);
    const full = parserThatKnows(...orders.map((order) => ({ order, spacing: '' })));
    const isKnown = orders.map((order) => full.parse(Buffer.from(write(plainMessage, order, ''))) !== null);
    expect(isKnown.filter((known) => known)).toHaveLength(7);
    expect(full.parse(Buffer.from(usual))).toEqual(toCounterReading(plainMessage));
  });

  it('is decoded alike whatever was decoded before it', () => {
    const texts = fc.array(fc.tuple(messages, forms), { maxLength: 20 });
    fc.assert(
      fc.property(texts, (list) => {
        const decode = createCounterDecoder();
        for (const [message, { order, spacing }] of list) {
          const data = Buffer.from(write(message, order, spacing));
          const subject = counterSubject(message.installationId);
          expect(decode(subject, data)).toEqual(createCounterDecoder()(subject, data));
        }
      }),
      { numRuns: runs(40) },
    );
  });
});
