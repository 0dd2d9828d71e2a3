import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRowText } from '../../storage/tables/rowText.ts';
import { type Cell, cellText } from '../../storage/tables/tabSeparated.ts';

const text = fc.option(
  fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string(),
    fc.constantFrom('', '\\', '\t', 'a\nb', '\0', '\x7f', 'é', '😀', 'x'.repeat(70_000), 'é'.repeat(40_000)),
  ),
);
const integer = fc.oneof(
  fc.maxSafeInteger(),
  fc.nat(20),
  fc.constantFrom(
    -1,
    10,
    99,
    100,
    999_999_999,
    1_000_000_000,
    1_000_000_001,
    2_147_483_648,
    10_000_000_000,
    Number.MAX_SAFE_INTEGER,
  ),
);
const decimal = fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n });

describe('rows as bytes', () => {
  it('are those of the plain encoding, row after row and batch after batch', () => {
    const written = createRowText();
    fc.assert(
      fc.property(fc.array(fc.tuple(text, integer, decimal, text, integer), { maxLength: 8 }), (rows) => {
        for (const [first, second, third, fourth, fifth] of rows) {
          written.text(first);
          written.integer(second);
          written.decimal(third);
          written.text(fourth);
          written.integer(fifth);
          written.endRow();
        }
        const expected = rows.map((row: readonly Cell[]) => `${row.map(cellText).join('\t')}\n`).join('');
        expect(written.take().equals(Buffer.from(expected, 'utf8'))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
