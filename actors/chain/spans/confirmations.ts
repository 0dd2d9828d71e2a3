/** Blocks that confirm a safe one, its own counted (CONTRACT.md, Safe block). */
export const confirmations = 12n;

/** Whether a block is safe when the chain is indexed through another (CONTRACT.md, Safe block). */
export function isSafelyBelow(block: bigint, indexedThrough: bigint): boolean {
  return block + confirmations - 1n <= indexedThrough;
}
