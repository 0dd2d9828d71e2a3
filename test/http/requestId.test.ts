import { expect, it } from 'vitest';
import { createRequestIds } from '../../http/server/requests/requestId.ts';

it('each request without a well-formed ID gets a well-formed one that is unique', () => {
  const ids = createRequestIds();
  const otherProcess = createRequestIds();
  // IDs with several beginnings: 36 ** 2 of them share one.
  const created = Array.from({ length: 3 * 36 ** 2 }, (_, index) =>
    index % 5 === 0 ? otherProcess('') : ids('short'),
  );
  expect(new Set(created).size).toBe(created.length);
  expect(created.filter((id) => !/^[a-z0-9-]{8,128}$/.test(id))).toEqual([]);
  expect(ids('caller-1')).toBe('caller-1');
});
