import { type Hex, hexToBytes, keccak256 } from 'viem';

/** The bloom of a list of logs: three bits for each address and topic (yellow paper, 4.3.1). */
export function computeLogsBloom(
  logs: readonly { readonly address: Hex; readonly topics: readonly Hex[] }[],
): Uint8Array {
  const bloom = new Uint8Array(256);
  for (const value of new Set(logs.flatMap(({ address, topics }) => [address, ...topics]))) {
    const hash = hexToBytes(keccak256(value));
    for (const at of [0, 2, 4]) {
      const bit = (((hash[at] ?? 0) & 7) << 8) | (hash[at + 1] ?? 0);
      const index = 255 - (bit >> 3);
      bloom[index] = (bloom[index] ?? 0) | (1 << (bit & 7));
    }
  }
  return bloom;
}
