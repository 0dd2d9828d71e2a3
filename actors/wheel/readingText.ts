import { parseTimestampMs } from '../schemas/parseTimestampMs.ts';
import { type CounterReading, coreStatuses, provenances } from './counterReading.ts';

/** Written out: a counted class costs a third of the whole pattern's time. */
const hex = (digits: number) => '[0-9a-f]'.repeat(digits);
const uuid = `"(${[8, 4, 4, 4, 12].map(hex).join('-')})"`;
/** What is no ASCII or needs an escape is left to JSON. */
const plainText = '"([ !#-\\[\\]-~]{0,256})"';
/** At most 15 digits: surely a safe integer. */
const count = '(0|[1-9]\\d{0,14})';
/** At most 77 digits: surely below 2^256. */
const decimal = '"(0|[1-9]\\d{0,76})"';
/** With milliseconds; a 29th of February is left to the schema. */
const day =
  '(?:02-(?:0[1-9]|1\\d|2[0-8])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01]))';
const time = `"(\\d{4}-${day}T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z)"`;
const oneOf = (values: readonly string[]) => `"(${values.join('|')})"`;

const telemetryIdAt = '{"telemetryId":"'.length;
const uuidLength = 36;

/** Each member is one group. */
const members = [
  ['telemetryId', uuid],
  ['installationId', '"([A-Za-z0-9._:-]{1,128})"'],
  ['bootId', uuid],
  ['sequence', count],
  ['observedAt', time],
  ['receivedAt', time],
  ['counterEpoch', uuid],
  ['cumulativeWorkUnits', decimal],
  ['provenance', oneOf(provenances)],
  ['softwareVersion', `(?:null|${plainText})`],
  ['coreStatus', oneOf(coreStatuses)],
  ['rpmMilli', count],
  ['speedMmPerSecond', count],
  ['distanceMm', count],
] as const;
const form = new RegExp(`^\\{${members.map(([name, value]) => `"${name}":${value}`).join(',')}\\}$`);

/**
 * The reading in ASCII bytes of the usual form: JSON without white space, the members in the order of the schema and no other.
 * Null for any other form, which may hold a reading as well: it takes the general way. One pattern reads and checks
 * in less than half the time of `JSON.parse` and the schema's check.
 */
export function parseUsualForm(ascii: Buffer): CounterReading | null {
  const found = form.exec(ascii.toString('latin1')) as MemberTexts | null;
  if (found === null) return null;
  return {
    // A part of a long string keeps all of it in memory, and readings are held by the thousands: this one is a copy.
    telemetryId: ascii.toString('latin1', telemetryIdAt, telemetryIdAt + uuidLength),
    installationId: found[2],
    bootId: found[3],
    sequence: Number(found[4]),
    observedAtMs: parseTimestampMs(found[5]),
    receivedAtMs: parseTimestampMs(found[6]),
    counterEpoch: found[7],
    cumulativeWorkUnits: BigInt(found[8]),
    provenance: found[9],
    softwareVersion: found[10] ?? null,
    coreStatus: found[11],
    rpmMilli: Number(found[12]),
    speedMmPerSecond: Number(found[13]),
    distanceMm: Number(found[14]),
  };
}

/** What the groups of {@link form} hold. */
type MemberTexts = readonly [
  whole: string,
  telemetryId: string,
  installationId: string,
  bootId: string,
  sequence: string,
  observedAt: string,
  receivedAt: string,
  counterEpoch: string,
  cumulativeWorkUnits: string,
  provenance: CounterReading['provenance'],
  softwareVersion: string | undefined,
  coreStatus: CounterReading['coreStatus'],
  rpmMilli: string,
  speedMmPerSecond: string,
  distanceMm: string,
];
