import { z } from 'zod';

/** A segment of a path that names a record. */
export interface PathSegment {
  readonly name: string;
  readonly schema: z.ZodType;
  /** @param segment percent-decoded. @returns null if the segment is invalid. */
  readonly parse: (segment: string) => string | null;
}

/** The segment of a route that refuses any other as `invalid_path`. */
type RecordPath = PathSegment & { readonly error: 'invalid_path' };

/** @param example shown in the reference. */
function definePath(name: string, pattern: RegExp, description: string, example: string): RecordPath {
  return {
    name,
    schema: z
      .string()
      .regex(pattern)
      .meta({ description, examples: [example] }),
    parse: (segment) => (pattern.test(segment) ? segment : null),
    error: 'invalid_path',
  };
}

// Later rounds have no date that a program can write.
export const roundPath = definePath('round', /^[1-9][0-9]{0,8}$/, 'Number of the round, from 1', '1000');
export const transactionPath = definePath(
  'transactionHash',
  /^0x[0-9a-f]{64}$/,
  'Hash of the transaction, in lower case',
  '0x3f1a34f49bbcb8dc4f70e4d48b2b4c4f0b6d5a3c6b0bd7a6a2f5f5a1b4c3d2e1',
);
export const eventPath = definePath(
  'eventId',
  /^(?:chain|measurement):[!-~]{1,500}$/,
  'ID of the event, as the feed shows it',
  'measurement:wheel.local:measurement-policy-v1:measurement.distance_milestone:1000000',
);
export const minerPath = definePath(
  'tokenId',
  /^[1-9][0-9]{0,3}$/,
  'ID of the token, a decimal from 1 to 9999',
  '1',
);
export const dayPath: RecordPath = {
  name: 'date',
  schema: z.iso.date().meta({
    description: 'Date of the noon UTC at which the day begins',
    examples: ['2026-11-25'],
  }),
  parse: (segment) => z.iso.date().safeParse(segment).data ?? null,
  error: 'invalid_path',
};

/** A segment with a wrong encoding is returned unchanged; every parameter refuses it, since none allows a percent sign. */
export function decodePercent(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
