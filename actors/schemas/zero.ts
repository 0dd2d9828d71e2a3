import { toAddress } from './hex.ts';

/** The address that stands for nobody: where tokens come from when they are minted, and go to when they are burned. */
export const zeroAddress = toAddress(`0x${'0'.repeat(40)}`);

/** A hash that was never set. */
export const zeroHash = `0x${'0'.repeat(64)}` as const;
