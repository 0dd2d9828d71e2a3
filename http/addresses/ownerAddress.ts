import { getAddress } from 'viem/utils';
import { type Address, isAddress, zeroAddress } from '../../actors/schemas/hex.ts';

/** Public routes accept only lower case, and not the zero address (CONTRACT.md, Portfolio). */
function isLowercaseOwner(address: string): address is Address {
  return isAddress(address) && address !== zeroAddress;
}

/** Plain routes accept lower case, or a correct checksum (EIP-55, CONTRACT.md, Portfolio). @returns the address in lower case, or null. */
export function parseOwner(address: string): Address | null {
  if (isLowercaseOwner(address)) return address;
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return null;
  const owner = address.toLowerCase();
  return isLowercaseOwner(owner) && getAddress(owner) === address ? owner : null;
}
