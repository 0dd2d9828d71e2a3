import type { HttpResponse } from 'uWebSockets.js';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { Transport } from '../engine/uws.ts';
import { type AddressWords, decodeAddress, parseAddress } from './ipAddress.ts';

const unknownAddress: AddressWords = [0, 0, 0, 0];

interface ClientAddress {
  readonly address: AddressWords;
  /** Whether the connection belongs to a proxy, and carries requests of other clients too. */
  readonly isOfProxy: boolean;
}

/** Finds the client of a request from its connection and its `X-Forwarded-For`. */
export type FindClientAddress = (response: HttpResponse, forwardedFor: string) => ClientAddress;

/**
 * `X-Forwarded-For` counts only if the peer is a configured proxy. The client is then the first address from the right that is not
 * a configured proxy.
 *
 * @param trustedProxies addresses and CIDR blocks.
 * @throws RangeError if an entry is neither.
 */
export function createClientAddress(
  trustedProxies: readonly string[],
  transport: Transport,
): FindClientAddress {
  if (trustedProxies.length === 0)
    return (response) => ({ address: readPeerAddress(response, transport), isOfProxy: false });
  const trusted = buildBlockList(trustedProxies);
  // A block of IPv4 addresses has their IPv4-mapped forms, too.
  const isTrusted = (address: string) => trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

  return (response, forwardedFor) => {
    const peer = transport.remoteAddress(response);
    if (!isTrusted(peer)) return { address: parseAddress(peer) ?? unknownAddress, isOfProxy: false };
    const forwarded = forwardedFor.split(',');
    let client = peer;
    for (let index = forwarded.length - 1; index >= 0; index--) {
      const address = removePort((forwarded[index] as string).trim());
      // Trusted proxies write valid addresses, so an invalid one and everything to its left came from the client.
      if (parseAddress(address) === null) break;
      client = address;
      if (!isTrusted(address)) break;
    }
    return { address: parseAddress(client) ?? unknownAddress, isOfProxy: true };
  };
}

function readPeerAddress(response: HttpResponse, transport: Transport): AddressWords {
  const bytes = transport.remoteAddressBytes(response);
  if (bytes !== null && (bytes.byteLength === 4 || bytes.byteLength === 16)) return decodeAddress(bytes);
  return parseAddress(transport.remoteAddress(response)) ?? unknownAddress;
}

function buildBlockList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (family === 'ipv6' && !isIPv6(address)) {
      throw new RangeError(`trusted proxy ${entry} is neither an IP address nor a CIDR block`);
    }
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Some proxies write `address:port`, or `[address]:port`. */
function removePort(entry: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(entry);
  if (bracketed !== null) return bracketed[1] as string;
  const [address = '', port, ...more] = entry.split(':');
  return port !== undefined && more.length === 0 ? address : entry;
}
