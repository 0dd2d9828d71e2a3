/** Block units of one work block (CONTRACT.md, Units). */
export const blockUnitsPerBlock = 1_000_000_000n;

/** Work blocks that are complete with so many block units. */
export function countWholeBlocks(cumulativeBlockUnits: bigint): bigint {
  return cumulativeBlockUnits / blockUnitsPerBlock;
}
