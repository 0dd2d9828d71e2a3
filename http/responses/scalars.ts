import { z } from 'zod';
import { coreStatuses, provenances } from '../../actors/wheel/counterReading.ts';

/** Scalar types as they appear in responses (CONTRACT.md, Scalars). */

/** An object that is a component of the documents, by its name. */
export function defineObject<Members extends z.ZodRawShape>(id: string, members: Members) {
  return z.strictObject(members).meta({ id });
}

export const schemaVersion = <Version extends number>(version: Version) =>
  z
    .literal(version)
    .describe('Version of this resource’s shape; it changes when a member is removed or changed');

/**
 * Metadata of the objects that the contract closes. All others are published as open, since members may be added within a
 * version. The check before sending is strict for every object.
 */
export const closed = { isClosed: true };

export const availableStatus = z.literal('available').describe('The data is there');
export const unavailableStatus = z
  .literal('unavailable')
  .describe('The data is unknown now, which does not mean zero or empty; `reason` says why');

/** Largest value of {@link uint64Decimal}. */
export const uint64Max = 2n ** 64n - 1n;

export const decimal = z
  .string()
  .regex(decimalPattern(2n ** 256n - 1n))
  .meta({ id: 'Decimal', description: 'Unsigned base-10 integer below 2^256', format: 'uint256-decimal' });

/** A decimal above zero. */
export const positiveDecimal = z
  .string()
  .regex(decimalPattern(2n ** 256n - 1n, 1))
  .meta({
    id: 'PositiveDecimal',
    description: 'Unsigned base-10 integer above zero',
    format: 'uint256-decimal',
  });

export const uint64Decimal = z.string().regex(decimalPattern(uint64Max)).meta({
  id: 'Uint64Decimal',
  description: 'Unsigned base-10 integer below 2^64',
  format: 'uint64-decimal',
});

export const positiveUint64Decimal = z.string().regex(decimalPattern(uint64Max, 1)).meta({
  id: 'PositiveUint64Decimal',
  description: 'Unsigned base-10 integer above zero and below 2^64',
  format: 'uint64-decimal',
});

/** For sums and thousandths of decimals, which may leave the range of a decimal. */
export const unboundedDecimal = z
  .string()
  .regex(/^(?:0|[1-9][0-9]*)$/)
  .meta({
    id: 'UnboundedDecimal',
    description: 'Unsigned base-10 integer; a sum or multiple of 256-bit values, so it may exceed 256 bits',
  });

export const bytes32 = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({ id: 'Bytes32' });

/** A text whose content the contract leaves open; never empty. */
export const text = z.string().min(1);

export const timestamp = z.iso
  .datetime()
  .meta({ id: 'Timestamp', description: 'ISO 8601 UTC date-time with milliseconds', format: 'date-time' });

export const generatedAt = timestamp.describe(
  'When this body was made. Other members tell how old its data is',
);

export const uuid = z.guid().meta({ id: 'Uuid', description: 'UUID of any version', format: 'uuid' });

export const installationId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/)
  .meta({ id: 'InstallationId', description: 'ID of a wheel device', examples: ['wheel.local'] });

export const safeCount = z
  .int()
  .min(0)
  .meta({ id: 'SafeCount', description: 'Nonnegative integer that a JSON number represents exactly' });

export const provenance = z.enum(provenances).meta({
  id: 'Provenance',
  description:
    'Source of a value: a device, a simulation, a replay of earlier values, or a derivation from other values',
});

export const coreStatus = z.enum(coreStatuses).meta({
  id: 'CoreStatus',
  description:
    'State of the counter, as reported by the device. Nothing is projected from a counter in `COUNTER_FAULT`',
});

/**
 * Pattern of the decimals from `min` through `max`, without sign or leading zero. One pattern instead of refinements, so that the published
 * schema has the bounds too. A decimal as long as `max` is smaller if its first different digit is smaller.
 */
function decimalPattern(max: bigint, min: 0 | 1 = 0): RegExp {
  const digits = max.toString();
  const below = [...digits].flatMap((digit, place) => {
    const least = place === 0 ? 1 : 0;
    if (Number(digit) <= least) return [];
    return [`${digits.slice(0, place)}[${least}-${Number(digit) - 1}][0-9]{${digits.length - place - 1}}`];
  });
  const zero = min === 0 ? ['0'] : [];
  return new RegExp(`^(?:${[...zero, `[1-9][0-9]{0,${digits.length - 2}}`, ...below, digits].join('|')})$`);
}

/** The most entries of any page of a list (CONTRACT.md). */
export const pageMax = 100;

export const cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,512}$/)
  .meta({ id: 'Cursor', description: 'Opaque; sent back unchanged' });
