import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildSimulator } from './build.mjs';

const run = promisify(execFile);
let program = '';

beforeAll(async () => {
  program = resolve(await buildSimulator({ name: 'tested' }));
});

const simulate = async (...settings: string[]) => {
  const { stdout } = await run(process.execPath, ['--enable-source-maps', program, ...settings]);
  return stdout;
};

const readFingerprints = (output: string) =>
  [...output.matchAll(/^seed (\w+): .* faults, ([0-9a-f]{16}),/gm)].map(([, seed, digest]) => [seed, digest]);

describe('the simulator', () => {
  it('finds nothing with the plans that are kept', async () => {
    expect(await simulate('--kept', '--minutes', '10', '--no-shrinking')).toMatch(/^\d+ seeds, 0 failed;/m);
  });

  it('does the same with the same seed, message for message', async () => {
    const once = () => simulate('--seed', '24', '--seeds', '1', '--episodes', '1');
    const one = readFingerprints(await once());
    expect(one).toHaveLength(1);
    expect(readFingerprints(await once())).toEqual(one);
  });
});
