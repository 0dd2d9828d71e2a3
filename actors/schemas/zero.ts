import { toAddress } from './hex.ts';

/** The address that stands for no account: minted tokens come from it, burned tokens go to it. */
export const zeroAddress = toAddress(`0x${'0'.repeat(40)}`);

/** A hash that was never set. */
export const zeroHash = `0x${'0'.repeat(64)}` as const;
