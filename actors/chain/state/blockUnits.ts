/** Block units of one work block (CONTRACT.md, Units). */
export const blockUnitsPerBlock = 1_000_000_000n;

/** Block units of one work unit at a difficulty of one (the core contract's `blockUnitsOf`). */
export const blockUnitScale = blockUnitsPerBlock * 1000n;

export function countWholeBlocks(cumulativeBlockUnits: bigint): bigint {
  return cumulativeBlockUnits / blockUnitsPerBlock;
}
