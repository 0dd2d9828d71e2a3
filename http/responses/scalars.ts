import { z } from 'zod';
import { coreStatuses, provenances } from '../../actors/views/views.ts';

/** Scalar types as they appear in responses (CONTRACT.md, Scalars). */

export const schemaVersion = <Version extends number>(version: Version) =>
  z
    .literal(version)
    .describe('Version of the shape of this resource; another one where a member is removed or changed');

/**
 * Metadata of the objects that the contract closes. All others are published open, since members may be added to them within a version; each is strict where it is
 * checked before it is sent.
 */
export const closed = { isClosed: true };

export const availableStatus = z.literal('available').describe('The data is there');
export const unavailableStatus = z
  .literal('unavailable')
  .describe('The data is not known now, which is neither zero nor empty; `reason` says why');

/** Largest value of {@link uint64Decimal}. */
export const uint64Max = 2n ** 64n - 1n;

export const decimal = z
  .string()
  .regex(decimalPattern(2n ** 256n - 1n))
  .meta({ id: 'Decimal', description: 'Unsigned base-10 integer below 2^256', format: 'uint256-decimal' });

export const uint64Decimal = z.string().regex(decimalPattern(uint64Max)).meta({
  id: 'Uint64Decimal',
  description: 'Unsigned base-10 integer below 2^64',
  format: 'uint64-decimal',
});

/** Of sums and of thousandths of decimals: a sum of two valid ones may be no valid one itself. */
export const unboundedDecimal = z
  .string()
  .regex(/^(?:0|[1-9][0-9]*)$/)
  .meta({
    id: 'UnboundedDecimal',
    description:
      'Unsigned base-10 integer; as a sum or a multiple of 256-bit values it may exceed 256 bits itself',
  });

export const bytes32 = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/)
  .meta({ id: 'Bytes32' });

/** Of a level of detail that the contract leaves open, but never empty. */
export const text = z.string().min(1);

export const timestamp = z.iso
  .datetime()
  .meta({ id: 'Timestamp', description: 'ISO 8601 UTC date-time with milliseconds', format: 'date-time' });

export const generatedAt = timestamp.describe(
  'When this body was made; how old what it shows is, other members say',
);

export const uuid = z.guid().meta({ id: 'Uuid', description: 'UUID of any version', format: 'uuid' });

export const installationId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/)
  .meta({ id: 'InstallationId', description: 'One wheel device identity' });

export const safeCount = z
  .int()
  .min(0)
  .meta({ id: 'SafeCount', description: 'Nonnegative integer that a JSON number holds exactly' });

export const provenance = z.enum(provenances).meta({
  id: 'Provenance',
  description:
    'Where a value comes from: a device, a simulation, a replay of earlier values, or a derivation from others',
});

export const coreStatus = z.enum(coreStatuses).meta({
  id: 'CoreStatus',
  description:
    'State of the counter, as the device reports it; with `COUNTER_FAULT` nothing is projected from its value',
});

/**
 * Decimals through `max`, without sign or leading zero. A pattern and not a refinement, so that the published schema bounds
 * them too: what is as long as `max` is below it from some digit on, and equal before that digit.
 */
function decimalPattern(max: bigint): RegExp {
  const digits = max.toString();
  const below = [...digits].flatMap((digit, place) => {
    const least = place === 0 ? 1 : 0;
    if (Number(digit) <= least) return [];
    return [`${digits.slice(0, place)}[${least}-${Number(digit) - 1}][0-9]{${digits.length - place - 1}}`];
  });
  return new RegExp(`^(?:${['0', `[1-9][0-9]{0,${digits.length - 2}}`, ...below, digits].join('|')})$`);
}
