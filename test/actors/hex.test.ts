import fc from 'fast-check';
import { getAddress, type Hex } from 'viem';
import { expect, it } from 'vitest';
import { isAddress, isBytes, isBytes32, toAddress, toLowercase } from '../../actors/schemas/hex.ts';

const bytes = (count: number) =>
  fc
    .uint8Array({ minLength: count, maxLength: count })
    .map((value): Hex => `0x${Buffer.from(value).toString('hex')}`);

it('addresses are the same in any case of their letters, and nothing else is an address', () => {
  fc.assert(
    fc.property(bytes(20), (address) => {
      expect(toAddress(getAddress(address))).toBe(address);
      expect(isAddress(address)).toBe(true);
      expect(isAddress(getAddress(address))).toBe(getAddress(address) === address);
    }),
  );
  const [short, long] = ['0x'.padEnd(41, '1'), '0x'.padEnd(43, '1')];
  for (const text of ['', '0x', short, long, '1'.repeat(42), `${short}g`]) {
    expect(isAddress(text)).toBe(false);
    expect(() => toAddress(text)).toThrow('is not an address');
  }
});

it('bytes are in lower case, two digits each, 32 of them in a hash', () => {
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
