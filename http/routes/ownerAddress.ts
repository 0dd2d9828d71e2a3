import { getAddress } from 'viem/utils';
import { zeroAddress } from '../../actors/schemas/zero.ts';

/** Public routes: lower case alone, and not the zero address (CONTRACT.md, Portfolio). */
export function isLowerCaseOwner(given: string): boolean {
  return /^0x[0-9a-f]{40}$/.test(given) && given !== zeroAddress;
}

/** Plain routes: lower case, or with a correct checksum (EIP-55); the address in lower case, or null (CONTRACT.md, Portfolio). */
export function parseOwner(given: string): string | null {
  if (isLowerCaseOwner(given)) return given;
  if (!/^0x[0-9a-fA-F]{40}$/.test(given)) return null;
  const owner = given.toLowerCase();
  return owner !== zeroAddress && getAddress(owner) === given ? owner : null;
}
