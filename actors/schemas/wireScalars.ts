import { z } from 'zod';
import { isAddress, isBlockHash, isBytes, isBytes32, isTransactionHash } from './hex.ts';

/** Scalar types of the messages (MESSAGES.md, Common rules): strings and safe integers. */

export const uint256Max = 2n ** 256n - 1n;

export const uint64Max = 2n ** 64n - 1n;

export const installationId = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,128}$/, 'expected 1-128 characters of A-Z a-z 0-9 . _ : -');

const expectedBytes32 = 'expected 0x and 64 lowercase hexadecimal digits';
/** 32 bytes, such as a hash. */
export const bytes32 = textOf(isBytes32, expectedBytes32);
export const blockHash = textOf(isBlockHash, expectedBytes32);
export const transactionHash = textOf(isTransactionHash, expectedBytes32);

export const address = textOf(isAddress, 'expected 0x and 40 lowercase hexadecimal digits');

/** Hexadecimal bytes of any length. */
export const bytes = textOf(isBytes, 'expected hexadecimal bytes');

/** A hexadecimal UUID (8-4-4-4-12) of any version. */
export const uuid = z.guid('expected a UUID');

/** ISO 8601 UTC date-time, with or without fractional seconds. */
export const timestamp = z.iso.datetime(
  'expected an ISO 8601 UTC date-time such as 2026-01-31T12:00:00.000Z',
);

/**
 * Unsigned decimal without sign or leading zero, at most 2^256 - 1. The check aborts for other strings, so later checks, also of schemas
 * that build on this one, may convert the value.
 */
export const uint256Decimal = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,77})$/, { error: 'expected an unsigned decimal string', abort: true })
  .refine((decimal) => decimal.length < 78 || BigInt(decimal) <= uint256Max, 'expected at most 2^256 - 1');

export const uint64Decimal = uint256Decimal.refine(
  (decimal) => decimal.length < 20 || BigInt(decimal) <= uint64Max,
  'expected at most 2^64 - 1',
);

/** Integer from 0 to 2^53 - 1, which JSON numbers hold exactly. */
export const safeCount = z.int().min(0);

/** A text with a type of its own. zod would give that type only to the output, though nothing changes a text that fits. */
function textOf<Text extends string>(
  isOne: (text: string) => text is Text,
  expected: string,
): z.ZodType<Text, Text> {
  return z.string().refine(isOne, expected) as z.ZodType as z.ZodType<Text, Text>;
}
