import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { writeClientTypes } from '../support/http/clientTypes.ts';

const root = resolve(import.meta.dirname, '../..');

it('the types of the client are those of the routes (npm run tables writes them)', async () => {
  const source = await writeClientTypes();
  const path = resolve(root, 'http/client/responses.ts');
  const formatted = execFileSync(
    resolve(root, 'node_modules/.bin/biome'),
    ['format', `--stdin-file-path=${path}`],
    { cwd: root, input: source, encoding: 'utf8' },
  );
  await expect(formatted).toMatchFileSnapshot(path);
});
