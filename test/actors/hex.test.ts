import fc from 'fast-check';
import { getAddress, type Hex } from 'viem';
import { describe, expect, it } from 'vitest';
import { isAddress, isBytes, isBytes32, toAddress, toLowercase } from '../../actors/schemas/hex.ts';

const bytes = (count: number) =>
  fc
    .uint8Array({ minLength: count, maxLength: count })
    .map((value): Hex => `0x${Buffer.from(value).toString('hex')}`);

describe('an address', () => {
  it('is the same in any case of its letters', () => {
    fc.assert(
      fc.property(bytes(20), (address) => {
        expect(toAddress(getAddress(address))).toBe(address);
        expect(isAddress(address)).toBe(true);
        expect(isAddress(getAddress(address))).toBe(getAddress(address) === address);
      }),
    );
  });

  it.each(['', '0x', `0x${'1'.repeat(39)}`, `0x${'1'.repeat(41)}`, '1'.repeat(40), `0x${'g'.repeat(40)}`])(
    'is not %o',
    (text) => {
      expect(isAddress(text)).toBe(false);
      expect(() => toAddress(text)).toThrow('is not an address');
    },
  );
});

describe('bytes', () => {
  it('are in lower case, two digits each, 32 of them in a hash', () => {
    fc.assert(
      fc.property(fc.constantFrom(0, 1, 31, 32, 33).chain(bytes), (hex) => {
        expect(isBytes(hex)).toBe(true);
        expect(isBytes32(hex)).toBe(hex.length === 66);
        expect(isBytes(`${hex}0`)).toBe(false);
      }),
    );
    expect(isBytes('0xAB')).toBe(false);
    expect(toLowercase('0xAB')).toBe('0xab');
  });
});
