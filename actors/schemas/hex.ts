import type { Hex } from 'viem';

declare const lowerCase: unique symbol;

/**
 * An address in lower case, as messages, states and bodies have it, so that two of them are the same where their text is. What viem
 * decodes has a checksum in the case of its letters, and becomes one of these by {@link toAddress}.
 */
export type Address = Hex & { readonly [lowerCase]: 'address' };

export function isAddress(text: string): text is Address {
  return /^0x[0-9a-f]{40}$/.test(text);
}

/** @throws Error for an invalid address. */
export function toAddress(checksummed: string): Address {
  const address = checksummed.toLowerCase();
  if (!isAddress(address)) throw new Error(`${checksummed} is not an address`);
  return address;
}

/** Bytes as they are, written in lower case. */
export function toLowercase(bytes: Hex): Hex {
  return `0x${bytes.slice(2).toLowerCase()}`;
}

/** 32 bytes, such as a hash, in lower case. */
export function isBytes32(text: string): text is Hex {
  return /^0x[0-9a-f]{64}$/.test(text);
}

/** Any number of bytes in lower case. */
export function isBytes(text: string): text is Hex {
  return /^0x(?:[0-9a-f]{2})*$/.test(text);
}
