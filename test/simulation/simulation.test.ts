import { type ExecFileException, execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildSimulator, nodeOptions } from './build.mjs';
import { mutations } from './mutations.mjs';

const run = promisify(execFile);
const oneSeed = { seed: '24', seeds: '1', episodes: '1' };
let program = '';
let keptOutput = '';

beforeAll(async () => {
  program = resolve(await buildSimulator({ name: 'tested' }));
  keptOutput = await simulate({ ...oneSeed, kept: true, minutes: '10', shrinking: false });
}, 600_000);

/** Output of the program. If it fails, the error has the output. */
async function simulate(settings: object): Promise<string> {
  try {
    return (await run(process.execPath, [...nodeOptions, program, JSON.stringify(settings)])).stdout;
  } catch (error) {
    // `promisify` rejects with this type.
    const { code, signal, stdout, stderr } = error as ExecFileException & { stdout: string; stderr: string };
    throw new Error(`simulate ${JSON.stringify(settings)} ended with ${signal ?? code}:\n${stdout}${stderr}`);
  }
}

const readFingerprints = (output: string) =>
  [...output.matchAll(/^seed (\w+): .* faults, ([0-9a-f]{16}),/gm)].map(([, seed, digest]) => [seed, digest]);

describe('the simulator', () => {
  it('finds nothing with the plans that are kept', () => {
    expect(keptOutput).toMatch(/^\d+ seeds, 0 failed;/m);
  });

  it('does the same with the same seed, whatever ran before', async () => {
    const alone = readFingerprints(await simulate(oneSeed));
    expect(alone).toHaveLength(1);
    expect(readFingerprints(keptOutput).slice(-1)).toEqual(alone);
  });

  it('can put each fault of the list into the program', () => {
    const misfits = mutations.filter(({ replacements }) =>
      replacements.some(({ file, from }) => readFileSync(file, 'utf8').split(from).length !== 2),
    );
    expect(misfits.map(({ what }) => what)).toEqual([]);
  });
});
