/**
 * How much is proven far behind the tip. `all`: every block, by its header. `logs`: of the blocks that hold logs of the
 * deployment according to the node each one, which is faster by as much as there are others; a block that the node leaves out
 * goes unnoticed then. Near the tip every block is proven either way.
 */
export const chainProofs = ['all', 'logs'] as const;
export type ChainProofs = (typeof chainProofs)[number];
