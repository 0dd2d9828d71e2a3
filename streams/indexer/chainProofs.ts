/**
 * How much is proven far behind the tip. `all`: every block, by its header. `logs`: only the blocks that hold logs of the
 * deployment according to the node. That is faster the more other blocks there are, but a block that the node omits
 * goes unnoticed. Near the tip every block is proven either way.
 */
export const chainProofs = ['all', 'logs'] as const;
export type ChainProofs = (typeof chainProofs)[number];
