/** Block units of one work block (CONTRACT.md, Units). */
export const blockUnitsPerBlock = 1_000_000_000n;

export function countWholeBlocks(cumulativeBlockUnits: bigint): bigint {
  return cumulativeBlockUnits / blockUnitsPerBlock;
}
