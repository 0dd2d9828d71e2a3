import { expect, it } from 'vitest';
import { readErrorCode } from '../../actors/readErrorCode.ts';

it('the code of an error is its text, if it has one', () => {
  const codes = [{ code: 'ENOENT' }, { code: 2 }, {}].map((given) =>
    Object.assign(new Error('failed'), given),
  );
  expect([...codes, { code: 'ENOENT' }, null].map(readErrorCode)).toEqual(['ENOENT', ...Array(4)]);
});
