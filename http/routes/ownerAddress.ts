import { getAddress } from 'viem/utils';
import { zeroAddress } from '../../actors/schemas/zero.ts';

/** [A]: lower case alone, and not the zero address (document 2, A8). */
export function isLowerCaseOwner(given: string): boolean {
  return /^0x[0-9a-f]{40}$/.test(given) && given !== zeroAddress;
}

/** [B]: lower case, or with a checksum that is right (EIP-55); the address in lower case, or null (document 2, B8). */
export function ownerOf(given: string): string | null {
  if (isLowerCaseOwner(given)) return given;
  if (!/^0x[0-9a-fA-F]{40}$/.test(given)) return null;
  const owner = given.toLowerCase();
  return owner !== zeroAddress && getAddress(owner) === given ? owner : null;
}
