import { isIPv4, isIPv6 } from 'node:net';

/** An IP address as four 32-bit words. An IPv4 address is stored IPv4-mapped, so that both of its forms are equal. */
export type AddressWords = readonly [number, number, number, number];

const mappedPrefix = 0xffff;
const nat64Prefix = 0x0064_ff9b;

/**
 * The client that limits count: an IPv4 address, even if NAT64 embeds it, or the /64 of an IPv6 address. A host usually has a
 * whole /64.
 */
export function toClient(address: AddressWords): AddressWords {
  return isIPv4Client(address) ? [0, 0, mappedPrefix, address[3]] : [address[0], address[1], 0, 0];
}

/** The /48 of an IPv6 address, which is assigned to one site; null for IPv4. Its words differ from every client's. */
export function toSite(address: AddressWords): AddressWords | null {
  return isIPv4Client(address) ? null : [address[0], (address[1] & 0xffff_0000) >>> 0, 0xffff_ffff, 48];
}

/** Whether the last word is an IPv4 address: IPv4-mapped, or translated by NAT64 in 64:ff9b::/96 (RFC 6052). */
function isIPv4Client([first, second, third]: AddressWords): boolean {
  if (second !== 0) return false;
  return first === 0 ? third === mappedPrefix : first === nat64Prefix && third === 0;
}

export function parseAddress(text: string): AddressWords | null {
  if (isIPv4(text)) return [0, 0, mappedPrefix, parseIPv4(text)];
  const bare = text.split('%', 1)[0] as string; // A zone index names an interface of this host, not the peer.
  if (!isIPv6(bare)) return null;
  const [head = '', tail] = bare.split('::');
  const front = parseGroups(head);
  const back = tail === undefined ? [] : parseGroups(tail);
  const zeros = new Array<number>(8 - front.length - back.length).fill(0);
  const groups = [...front, ...zeros, ...back];
  const word = (index: number) => (((groups[index] as number) << 16) | (groups[index + 1] as number)) >>> 0;
  return [word(0), word(2), word(4), word(6)];
}

/** @param bytes 4 or 16 bytes, in network order. */
export function decodeAddress(bytes: ArrayBuffer): AddressWords {
  const view = new DataView(bytes);
  if (bytes.byteLength === 4) return [0, 0, mappedPrefix, view.getUint32(0)];
  return [view.getUint32(0), view.getUint32(4), view.getUint32(8), view.getUint32(12)];
}

function parseGroups(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const word = parseIPv4(group);
    return [word >>> 16, word & 0xffff];
  });
}

function parseIPv4(text: string): number {
  return text.split('.').reduce((word, byte) => ((word << 8) | Number(byte)) >>> 0, 0);
}
