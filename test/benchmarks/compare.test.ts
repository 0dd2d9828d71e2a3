import { expect, it } from 'vitest';
import { findSlower } from '../../benchmarks/compare.ts';

it('the comparison warns only of more CPU in three turns of four', () => {
  const compare = (title: string, micros: readonly number[]) => ({
    title,
    series: [micros, micros.map(() => 1)].map((cpu) => ({
      name: 'a server',
      values: [],
      others: { 'CPU µs/request': cpu },
    })),
  });
  const tables = [
    compare('same', [0.9, 1, 1.1, 1.05]),
    compare('one slow turn', [1, 1, 3, 0.9]),
    compare('slower', [1.2, 1.3, 0.8, 1.25]),
    compare('not measured', []),
  ];
  expect(findSlower(tables)).toEqual(['slower: 1.23 times (median of 4 turns)']);
});
