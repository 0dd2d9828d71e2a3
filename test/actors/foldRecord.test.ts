import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  type FoldRecord,
  formatRecord,
  kindsOf,
  parseRecord,
  RecordRefused,
  restoreInto,
} from '../../actors/folds/foldRecord.ts';

/** A kind whose state and draft are the values by key. */
function defineMap<Schema extends z.ZodType>(kind: string, schema: Schema) {
  type Values = Map<string, z.input<Schema>>;
  const one = kindsOf<Values, Values>()(kind, schema, {
    list: (values) => values as never,
    restore: (values, value, key) => values.set(key, value),
  });
  return {
    kind,
    write: (key: string, value: z.input<Schema>) => [...one.list(new Map([[key, value]]))][0] as FoldRecord,
    /** Values by key. */
    read: (...records: FoldRecord[]) => {
      const values: Values = new Map();
      for (const record of records) restoreInto<Values>([one])(values, record);
      return values;
    },
  };
}

const weight = defineMap('weight', z.bigint());

describe('a record of a fold', () => {
  it('is read back from a line with any value', () => {
    const text = defineMap('text', z.string());
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9._:/-]*$/), fc.string({ unit: 'binary' }), (key, value) => {
        const line = formatRecord(text.write(key, value));
        expect(line).not.toContain('\n');
        const record = parseRecord(line);
        expect(record).toMatchObject({ kind: 'text', key });
        expect(text.read(record).get(key)).toBe(value);
      }),
    );
  });

  it('is refused if its kind is unknown', () => {
    const height = { kind: 'height', key: '1', value: '1' };
    expect(() => weight.read(height)).toThrow('height is not a kind of record');
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
const listed = defineMap('mint', mint);
const named = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('paid'), paid: z.bigint() }),
  z.strictObject({ kind: z.literal('free'), to: z.array(z.bigint()) }),
]);
const claim = defineMap('claim', z.strictObject({ named, perhaps: z.object({ by: z.bigint().optional() }) }));

describe('the value of a record', () => {
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

  it('is read back exactly, and is stored without the names of its members', () => {
    fc.assert(
      fc.property(value, (one) => {
        const line = formatRecord(listed.write('7', one));
        expect(line).not.toMatch(/"(?:tokenIds|pending|isOpen)"/);
        expect(listed.read(parseRecord(line)).get('7')).toEqual(one);
      }),
    );
  });

  it('keeps the names of members of a union, and of those that may be missing', () => {
    for (const one of [
      { named: { kind: 'paid', paid: 2n ** 256n }, perhaps: {} },
      { named: { kind: 'free', to: [1n] }, perhaps: { by: 7n } },
    ] as const)
      expect(claim.read(claim.write('7', one as never)).get('7')).toEqual(one);
  });

  it.each([
    [claim, 'a member of a union is missing', '[{"kind":"paid"},{}]'],
    [claim, 'a member of a union has another type', '[{"kind":"paid","paid":"1"},{}]'],
    [claim, 'a bigint of a union is malformed', '[{"kind":"paid","paid":{"$bigint":"1x"}},{}]'],
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
