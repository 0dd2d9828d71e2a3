import { expect, it } from 'vitest';
import { findSlower } from '../../benchmarks/guard.ts';

it('warns of a request that takes more CPU time in three turns of four, and of no other', () => {
  const compared = [
    { title: 'same', rates: [], cpu: [0.9, 1, 1.1, 1.05] },
    { title: 'one slow turn', rates: [], cpu: [1, 1, 3, 0.9] },
    { title: 'slower', rates: [], cpu: [1.2, 1.3, 0.8, 1.25] },
    { title: 'not measured', rates: [], cpu: [] },
  ];
  expect(findSlower(compared)).toEqual(['slower: 1.23 times (median of 4 turns)']);
});
