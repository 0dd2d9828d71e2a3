import { expect, it } from 'vitest';
import { createRequestIds } from '../../http/server/requests/requestId.ts';

it('requests without an ID of their own get well-formed ones, each another', () => {
  const ids = createRequestIds();
  const otherProcess = createRequestIds();
  // More than have the same beginning.
  const given = Array.from({ length: 3 * 36 ** 2 }, (_, index) =>
    index % 5 === 0 ? otherProcess('') : ids('short'),
  );
  expect(new Set(given).size).toBe(given.length);
  expect(given.filter((id) => !/^[a-z0-9-]{8,128}$/.test(id))).toEqual([]);
  expect(ids('caller-1')).toBe('caller-1');
});
