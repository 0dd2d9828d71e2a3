import type { Hex } from 'viem';

/** Brands lower-case hex by its meaning, so that the compiler tells one kind from another. */
declare const meaning: unique symbol;

/**
 * An address in lower case, as in messages, states and bodies. Equal addresses have equal text. viem returns checksummed addresses, which
 * {@link toAddress} converts.
 */
export type Address = Hex & { readonly [meaning]: 'address' };
export type BlockHash = Hex & { readonly [meaning]: 'block hash' };
export type TransactionHash = Hex & { readonly [meaning]: 'transaction hash' };

export function isAddress(text: string): text is Address {
  return text.length === 42 && isLowercaseHex(text);
}

/** @throws Error for an invalid address. */
export function toAddress(checksummed: string): Address {
  const address = checksummed.toLowerCase();
  if (!isAddress(address)) throw new Error(`${checksummed} is not an address`);
  return address;
}

export function isBlockHash(text: string): text is BlockHash {
  return isBytes32(text);
}

export function isTransactionHash(text: string): text is TransactionHash {
  return isBytes32(text);
}

/** @throws Error for anything but 32 bytes. */
export function toBlockHash(bytes: string): BlockHash {
  const hash = bytes.toLowerCase();
  if (!isBlockHash(hash)) throw new Error(`${bytes} is not the hash of a block`);
  return hash;
}

/** @throws Error for anything but 32 bytes. */
export function toTransactionHash(bytes: string): TransactionHash {
  const hash = bytes.toLowerCase();
  if (!isTransactionHash(hash)) throw new Error(`${bytes} is not the hash of a transaction`);
  return hash;
}

/** The same bytes in lower case. */
export function toLowercase(bytes: Hex): Hex {
  return `0x${bytes.slice(2).toLowerCase()}`;
}

export function isBytes32(text: string): text is Hex {
  return text.length === 66 && isLowercaseHex(text);
}

export function isBytes(text: string): text is Hex {
  return text.length % 2 === 0 && isLowercaseHex(text);
}

/** For each character code: 1 for a lower-case hexadecimal digit, else 0. */
const isDigit = Uint8Array.from({ length: 65_536 }, (_, code) =>
  '0123456789abcdef'.includes(String.fromCharCode(code)) ? 1 : 0,
);

/** Without branches on digits, which the CPU cannot predict. It takes a third of the time of a regular expression. */
function isLowercaseHex(text: string): boolean {
  let isHex = text.startsWith('0x') ? 1 : 0;
  for (let at = 2; at < text.length; at++) isHex &= isDigit[text.charCodeAt(at)] as number;
  return isHex === 1;
}

/** The address that stands for no account: minted tokens come from it, burned tokens go to it. */
export const zeroAddress = toAddress(`0x${'0'.repeat(40)}`);

/** A hash that was never set. */
export const zeroHash = `0x${'0'.repeat(64)}` as const;
