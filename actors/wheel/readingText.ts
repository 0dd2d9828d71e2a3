import { parseTimestampMs } from '../schemas/parseTimestampMs.ts';
import {
  type CounterReading,
  type CounterReadingMessage,
  coreStatuses,
  provenances,
} from './counterReading.ts';

/** Written out: a counted class costs a third of the whole pattern's time. */
const hex = (digits: number) => '[0-9a-f]'.repeat(digits);
const uuid = `"(${[8, 4, 4, 4, 12].map(hex).join('-')})"`;
/** Other characters, and those that need an escape, are left to JSON.parse. */
const plainText = '"([ !#-\\[\\]-~]{0,256})"';
/** At most 15 digits: surely a safe integer. */
const count = '(0|[1-9]\\d{0,14})';
/** At most 77 digits: surely below 2^256. */
const decimal = '"(0|[1-9]\\d{0,76})"';
/** With milliseconds; a 29th of February is left to the schema. */
const day =
  '(?:02-(?:0[1-9]|1\\d|2[0-8])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01]))';
const time = `"(\\d{4}-${day}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z)"`;
const matchOneOf = (values: readonly string[]) => `"(${values.join('|')})"`;

const uuidLength = 36;

/** What each member looks like; its value is one group. */
const patterns = {
  telemetryId: uuid,
  installationId: '"([A-Za-z0-9._:-]{1,128})"',
  bootId: uuid,
  sequence: count,
  observedAt: time,
  receivedAt: time,
  counterEpoch: uuid,
  cumulativeWorkUnits: decimal,
  provenance: matchOneOf(provenances),
  softwareVersion: `(?:null|${plainText})`,
  coreStatus: matchOneOf(coreStatuses),
  rpmMilli: count,
  speedMmPerSecond: count,
  distanceMm: count,
} as const satisfies Record<keyof CounterReadingMessage, string>;
type Member = keyof typeof patterns;
const schemaOrder = Object.keys(patterns) as Member[];

/** White space of JSON as programs write it: none, or a space behind each comma and colon. */
const spacings = ['', ' '] as const;

/** How a program writes its readings: which member comes where. */
interface Form {
  readonly pattern: RegExp;
  /** The group of each member. */
  readonly groups: Readonly<Record<Member, number>>;
  /** Characters from the name of the `telemetryId` to its value. */
  readonly idOffset: number;
}

/** Nothing else in a reading reads like this: no value that a pattern matches has a quote in it. */
const idName = '"telemetryId":';

function createForm(order: readonly Member[], spacing: (typeof spacings)[number]): Form {
  const members = order.map((name) => `"${name}":${spacing}${patterns[name]}`);
  // Alike in all forms, in the order of the schema, so that reading them costs the same in each.
  const groups = Object.fromEntries(schemaOrder.map((name) => [name, order.indexOf(name) + 1]));
  return {
    pattern: new RegExp(`^\\{${members.join(`,${spacing}`)}\\}$`),
    groups: groups as Record<Member, number>,
    idOffset: idName.length + spacing.length + 1,
  };
}

/** Forms that are known at once; readings of further ones are decoded in the general way. */
const formsMax = 8;
/** Readings from which a form is sought: one with unusual values shows none, and to find that out takes longer than to decode it. */
const attemptsMax = 64;

/** Reads readings as text, in the forms that it has met. */
interface ReadingParser {
  /**
   * The reading in ASCII bytes of a known form. Null for any other, which may be a reading as well: it is decoded in the general way. One pattern
   * reads and checks in less than half the time of `JSON.parse` and the schema's check.
   */
  parse(ascii: Buffer): CounterReading | null;
  /** Learns the form of a reading that was decoded in the general way. */
  learn(ascii: Buffer, message: CounterReadingMessage): void;
}

/** Knows one form from the beginning: the order of the schema without white space. */
export function createReadingParser(): ReadingParser {
  /** The one that matched last comes first: a program writes all its readings alike. */
  const forms = [createForm(schemaOrder, '')];
  let attempts = 0;

  return {
    parse: (ascii) => {
      const text = ascii.toString('latin1');
      for (let index = 0; index < forms.length; index++) {
        const form = forms[index] as Form;
        const values = form.pattern.exec(text);
        if (values === null) continue;
        if (index > 0) forms.unshift(...forms.splice(index, 1));
        return toReading(values, form, ascii);
      }
      return null;
    },
    learn: (ascii, message) => {
      const order = Object.keys(message);
      if (forms.length === formsMax || attempts === attemptsMax || !isOrderOfMembers(order)) return;
      attempts++;
      const text = ascii.toString('latin1');
      const form = spacings
        .map((spacing) => createForm(order, spacing))
        .find(({ pattern }) => pattern.test(text));
      if (form !== undefined) forms.unshift(form);
    },
  };
}

function isOrderOfMembers(names: readonly string[]): names is Member[] {
  return names.length === schemaOrder.length && schemaOrder.every((name) => names.includes(name));
}

function toReading(values: RegExpExecArray, { groups, idOffset }: Form, ascii: Buffer): CounterReading {
  // The pattern matches nothing but the text of a reading, and gives all groups but that of a version that is null.
  const texts = values as readonly string[];
  const telemetryIdAt = values.input.indexOf(idName) + idOffset;
  return {
    // A part of a long string keeps all of it in memory, and thousands of readings are in memory: this one is a copy.
    telemetryId: ascii.toString('latin1', telemetryIdAt, telemetryIdAt + uuidLength),
    installationId: texts[groups.installationId] as string,
    bootId: texts[groups.bootId] as string,
    sequence: Number(texts[groups.sequence] as string),
    observedAtMs: parseTimestampMs(texts[groups.observedAt] as string),
    receivedAtMs: parseTimestampMs(texts[groups.receivedAt] as string),
    counterEpoch: texts[groups.counterEpoch] as string,
    cumulativeWorkUnits: BigInt(texts[groups.cumulativeWorkUnits] as string),
    provenance: texts[groups.provenance] as CounterReading['provenance'],
    softwareVersion: values[groups.softwareVersion] ?? null,
    coreStatus: texts[groups.coreStatus] as CounterReading['coreStatus'],
    rpmMilli: Number(texts[groups.rpmMilli] as string),
    speedMmPerSecond: Number(texts[groups.speedMmPerSecond] as string),
    distanceMm: Number(texts[groups.distanceMm] as string),
  };
}
