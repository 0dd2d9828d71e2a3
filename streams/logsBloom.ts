import { type Hex, hexToBytes, keccak256 } from 'viem';

const bloomBytes = 256;

/** The three bits of the 2048 that a value sets in a logs bloom (yellow paper, 4.3.1). */
function bitsOf(value: string): [number, number, number] {
  const hash = hexToBytes(keccak256(value as Hex));
  const bit = (at: number) => (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047;
  return [bit(0), bit(2), bit(4)];
}

/** Whether a header's bloom claims a value. It may claim one that is not there, and never leaves one out. */
export function bloomClaims(bloom: string, value: string): boolean {
  const bytes = hexToBytes(bloom as Hex);
  return bitsOf(value).every(
    (bit) => (((bytes[bloomBytes - 1 - (bit >>> 3)] as number) >>> (bit & 7)) & 1) === 1,
  );
}

/** The bloom of a block with just these logs: it equals the header's exactly when none is missing or invented. */
export function bloomOf(
  logs: Iterable<{ readonly address: string; readonly topics: readonly string[] }>,
): string {
  const bytes = new Uint8Array(bloomBytes);
  for (const { address, topics } of logs) {
    for (const value of [address, ...topics]) {
      for (const bit of bitsOf(value)) {
        const at = bloomBytes - 1 - (bit >>> 3);
        bytes[at] = (bytes[at] as number) | (1 << (bit & 7));
      }
    }
  }
  return `0x${Buffer.from(bytes).toString('hex')}`;
}
