import { z } from 'zod';
import { coreStatuses, provenances } from '../../actors/views.ts';
import { toIsoString } from './isoTime.ts';

/** Scalar types of document 1 as they appear in responses. */

export const decimal = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,77})$/)
  .meta({ id: 'Decimal', description: 'Unsigned base-10 integer', format: 'uint256-decimal' });

export const uint64Decimal = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,19})$/)
  .meta({
    id: 'Uint64Decimal',
    description: 'Unsigned base-10 integer below 2^64',
    format: 'uint64-decimal',
  });

export const timestamp = z.iso
  .datetime()
  .meta({ id: 'Timestamp', description: 'ISO 8601 UTC date-time', format: 'date-time' });

export const uuid = z.guid().meta({ id: 'Uuid', format: 'uuid' });

export const installationId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/)
  .meta({ id: 'InstallationId', description: 'One wheel device identity' });

export const safeCount = z
  .int()
  .min(0)
  .meta({ id: 'SafeCount', description: 'Nonnegative integer that a JSON number holds exactly' });

export const provenance = z.enum(provenances).meta({ id: 'Provenance' });

export const coreStatus = z.enum(coreStatuses).meta({ id: 'CoreStatus' });

/** Largest value of {@link uint64Decimal}. */
export const uint64Max = 2n ** 64n - 1n;

export function isoOf(timeMs: number): string {
  return toIsoString(timeMs);
}

export function isoOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : isoOf(timeMs);
}
