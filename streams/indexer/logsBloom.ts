import type { Hex } from 'viem';
import { hexToBytes, keccak256 } from 'viem/utils';

const bloomBytes = 256;

/** The three of the 2048 bits that a value sets in a logs bloom (yellow paper, 4.3.1). */
function computeBits(value: Hex): [number, number, number] {
  const hash = hexToBytes(keccak256(value));
  const bit = (at: number) => (((hash[at] as number) << 8) | (hash[at + 1] as number)) & 2047;
  return [bit(0), bit(2), bit(4)];
}

/**
 * Whether a header's bloom claims any of these values. It may claim a value that is absent, but never omits a present one: a block
 * whose bloom claims none of a deployment's addresses holds no log of them.
 */
export function createBloomTest(values: readonly Hex[]): (bloom: Hex) => boolean {
  const bits = values.map(computeBits);
  return (bloom) => {
    const bytes = hexToBytes(bloom);
    const isSet = (bit: number) =>
      (((bytes[bloomBytes - 1 - (bit >>> 3)] as number) >>> (bit & 7)) & 1) === 1;
    return bits.some((three) => three.every(isSet));
  };
}
