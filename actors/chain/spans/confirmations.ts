/** Confirmations of a safe block, counting the block itself (CONTRACT.md, Safe block). */
export const confirmations = 12n;

/** Whether a block is safe if the chain is indexed through `indexedThrough` (CONTRACT.md, Safe block). */
export function isSafelyBelow(block: bigint, indexedThrough: bigint): boolean {
  return block + confirmations - 1n <= indexedThrough;
}
