import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  collectRecords,
  defineListRecord,
  defineRecord,
  dispatchRecords,
  formatRecord,
  parseRecord,
  RecordRefused,
} from '../../actors/folds/foldRecord.ts';

const position = defineRecord('position', z.strictObject({ tokenId: z.int(), paid: z.bigint() }));
const weight = defineRecord('weight', z.bigint());

describe('a record of a fold', () => {
  it('is read back from a line with any value', () => {
    const text = defineRecord('text', z.string());
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9._:/-]*$/), fc.string({ unit: 'binary' }), (key, value) => {
        const line = formatRecord(text.write(key, value));
        expect(line).not.toContain('\n');
        const record = parseRecord(line);
        expect(record).toMatchObject({ kind: 'text', key });
        expect(text.read(record)).toBe(value);
      }),
    );
  });

  it('is replaced by the last record with its key', () => {
    const weights = collectRecords(weight);
    const take = dispatchRecords(weights);
    for (const [key, value] of [['1', 5n] as const, ['2', 2n ** 256n] as const, ['1', 7n] as const])
      take(weight.write(key, value));
    expect(Object.fromEntries(weights.values)).toEqual({ 1: 7n, 2: 2n ** 256n });
  });

  it('is refused if its kind is unknown', () => {
    const take = dispatchRecords(collectRecords(weight));
    expect(() => take({ kind: 'height', key: '1', value: '1' })).toThrow('height is not a kind of record');
  });

  it('is refused without a kind and a key', () => {
    for (const line of ['', 'weight', 'weight\t1']) expect(() => parseRecord(line)).toThrow(RecordRefused);
  });
});

const mint = z.strictObject({
  kind: z.enum(['mint', 'merge']),
  tokenIds: z.array(z.bigint()),
  pending: z.strictObject({ round: z.bigint(), weight: z.int().min(0) }).nullable(),
  levels: z.array(z.strictObject({ isOpen: z.boolean(), name: z.string().nullable() })),
});
const listed = defineListRecord('mint', mint);

describe('a record that is a list', () => {
  const integer = fc.oneof(
    fc.bigInt(),
    fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }),
    fc.constantFrom(2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n), -(2n ** 53n) - 1n),
  );
  const value = fc.record({
    kind: fc.constantFrom('mint' as const, 'merge' as const),
    tokenIds: fc.array(integer),
    pending: fc.option(fc.record({ round: integer, weight: fc.nat() })),
    levels: fc.array(fc.record({ isOpen: fc.boolean(), name: fc.option(fc.string({ unit: 'binary' })) })),
  });

  it('is read back exactly, and its text has no names', () => {
    fc.assert(
      fc.property(value, (one) => {
        const line = formatRecord(listed.write('7', one));
        expect(line).not.toMatch(/"(?:tokenIds|pending|isOpen)"/);
        expect(listed.read(parseRecord(line))).toEqual(one);
      }),
    );
  });

  it.each([
    [position, 'a member is missing', '{"tokenId":7}'],
    [position, 'a member has another type', '{"tokenId":7,"paid":"1"}'],
    [position, 'it has an unknown member', '{"tokenId":7,"paid":{"$bigint":"1"},"owner":"0x"}'],
    [position, 'it is not JSON', '{"tokenId":7,'],
    [position, 'an integer is malformed', '{"tokenId":7,"paid":{"$bigint":"1x"}}'],
    [listed, 'a member is missing', '["mint",[7],null]'],
    [listed, 'it has a member too many', '["mint",[7],null,[],null]'],
    [listed, 'it has the names of members', '{"kind":"mint","tokenIds":[7],"pending":null,"levels":[]}'],
    [listed, 'a member has another type', '["mint",7,null,[]]'],
    [listed, 'a member is not in its set', '["burn",[7],null,[]]'],
    [listed, 'a member within is missing', '["mint",[7],[1],[]]'],
    [listed, 'a member within is outside of its bounds', '["mint",[7],[1,-1],[]]'],
    [listed, 'a bigint is malformed', '["mint",["7x"],null,[]]'],
    [listed, 'a bigint is a fraction', '["mint",[7.5],null,[]]'],
    [listed, 'a bigint is null', '["mint",[null],null,[]]'],
    [listed, 'it is not JSON', '["mint",[7],'],
  ])('$0.kind is refused by name if %s', ({ kind, read }, _, value) => {
    const readValue = () => read({ kind, key: '7', value });
    expect(readValue).toThrow(RecordRefused);
    expect(readValue).toThrow(`${kind} 7`);
  });
});
