import type { HttpResponse } from 'uWebSockets.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../../http/server/engine/uws.ts';
import { createClientAddress } from '../../http/server/requests/clientAddress.ts';
import { runs } from '../support/propertyRuns.ts';

/** An address as eight groups, and one of the ways to write it. */
interface Written {
  readonly groups: readonly number[];
  readonly text: string;
}

const byte = fc.constantFrom(0, 1, 10, 127, 128, 192, 255);
const dotted = (bytes: readonly number[]) => bytes.join('.');
const mapped = (bytes: readonly number[]) => {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  return [0, 0, 0, 0, 0, 0xffff, a * 256 + b, c * 256 + d];
};
const hex = (groups: readonly number[]) => groups.map((group) => group.toString(16)).join(':');
const ipv4 = fc.tuple(fc.tuple(byte, byte, byte, byte), fc.nat(4)).map(([bytes, form]): Written => {
  const groups = mapped(bytes);
  const forms = [
    dotted(bytes),
    `::ffff:${dotted(bytes)}`,
    `0:0:0:0:0:FFFF:${dotted(bytes)}`,
    hex(groups),
    `::FFFF:${hex(groups.slice(6)).toUpperCase()}`,
  ];
  return { groups, text: forms[form] as string };
});
const group = fc.constantFrom(0, 1, 0xdb8, 0x8000, 0xffff);
const ipv6 = fc
  .tuple(fc.array(group, { minLength: 6, maxLength: 6 }), fc.boolean())
  .map(([rest, isUpper]): Written => {
    const groups = [0x2001, 0x8db8, ...rest];
    return { groups, text: isUpper ? hex(groups).toUpperCase() : hex(groups) };
  });
const address = fc.oneof(ipv4, ipv6);
/** As proxies write them, some with a port. */
const forwarded = fc.tuple(address, fc.boolean()).map(([written, hasPort]) => {
  const isIPv4 = !written.text.includes(':');
  return {
    ...written,
    entry: hasPort ? (isIPv4 ? `${written.text}:80` : `[${written.text}]:80`) : written.text,
  };
});

const trusted = ['10.0.0.0/8', '192.10.0.1', '2001:8db8:8000::/33'];
const isTrusted = ({ groups: [first, , third = 0, , , sixth, high = 0, low = 0] }: Written) =>
  first === 0 && sixth === 0xffff
    ? high >> 8 === 10 || (high === 192 * 256 + 10 && low === 1)
    : third >= 0x8000;
const toWords = ({ groups }: Written) =>
  [0, 2, 4, 6].map((at) => (groups[at] as number) * 0x1_0000 + (groups[at + 1] as number));

function findClient(peer: string, forwardedFor: string) {
  const transport = { remoteAddress: () => peer, remoteAddressBytes: () => null } as unknown as Transport;
  return createClientAddress(trusted, transport)({} as HttpResponse, forwardedFor);
}

describe('the client of a request', () => {
  it('is the first address from the right that is no trusted proxy, in any spelling', () => {
    fc.assert(
      fc.property(address, fc.array(forwarded, { maxLength: 4 }), (peer, entries) => {
        const chain = [...entries, peer].reverse();
        const client = chain.find((one) => !isTrusted(one)) ?? (chain.at(-1) as Written);
        expect(findClient(peer.text, entries.map(({ entry }) => entry).join(', '))).toEqual({
          address: toWords(isTrusted(peer) ? client : peer),
          isOfProxy: isTrusted(peer),
        });
      }),
      { numRuns: runs(300) },
    );
  });

  it('is found behind a proxy on a link with a zone, and before an entry that is no address', () => {
    const peer = 'fe80::1%eth0';
    expect(findClient(peer, '192.0.2.1')).toEqual({ address: [0xfe80_0000, 0, 0, 1], isOfProxy: false });
    expect(findClient('10.0.0.1', 'unknown, 10.1.1.1')).toEqual({
      address: [0, 0, 0xffff, 0x0a01_0101],
      isOfProxy: true,
    });
  });
});
