import { resolve } from 'node:path';
import { expect, it } from 'vitest';

it('contracts match the committed artifacts', async () => {
  const path = resolve(import.meta.dirname, '../../deploy/contracts/compile.mjs');
  const { isUpToDate } = (await import(path)) as { isUpToDate: () => boolean };
  expect(isUpToDate()).toBe(true);
});
